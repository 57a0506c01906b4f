# SPDX-License-Identifier: Apache-2.0
"""MXNet in the cases of bench/training_step.cpp, hybridised."""
import mxnet as mx
from mxnet import autograd, gluon

from clock import report

for batch in (128, 1):
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(256), gluon.nn.Swish(), gluon.nn.Dense(10))
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    loss.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05, "momentum": 0.9})
    x, labels = mx.nd.random.uniform(0, 1, (batch, 784)), mx.nd.arange(batch) % 10

    def step():
        with autograd.record():
            value = loss(net(x), labels)
        value.backward()
        trainer.step(batch)
        mx.nd.waitall()

    report(f"batch {batch}", step, budget=0.3, round_time=2e-4)
