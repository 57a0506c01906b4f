# SPDX-License-Identifier: Apache-2.0
"""How good predictions are, over as many batches as one likes."""
import math

import numpy as _np

from . import _strop, registry
from .base import also
from .ndarray import NDArray


def _numpy(a):
    return a.asnumpy() if isinstance(a, NDArray) else _np.asarray(a)


def _listed(values):
    return list(values) if isinstance(values, (list, tuple)) else [values]


def check_label_shapes(labels, preds, wrap=False, shape=False):
    """Raises where there are not as many labels as predictions."""
    if wrap:
        labels, preds = _listed(labels), _listed(preds)
    counts = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if counts[0] != counts[1]:
        raise also(_strop.ValueError, AssertionError)(f"metric: {counts[0]} labels for {counts[1]} predictions")
    return labels, preds


class EvalMetric:
    """A sum over all that was seen, and how much that was."""

    def __init__(self, name, output_names=None, label_names=None, **kwargs):
        kwargs.pop("has_global_stats", None)  # get_global() sees whether there are any
        self.name = str(name)
        self.output_names, self.label_names, self._kwargs = output_names, label_names, kwargs
        self.reset()

    def __str__(self):
        return f"EvalMetric: {dict(self.get_name_value())}"

    def reset(self):
        """Forgets what was seen."""
        self.num_inst, self.sum_metric = 0, 0.0
        self.global_num_inst, self.global_sum_metric = 0, 0.0

    def reset_local(self):
        """Forgets what was seen since the last reset_local()."""
        self.num_inst, self.sum_metric = 0, 0.0

    def _add(self, total, count):
        self.sum_metric += total
        self.global_sum_metric += total
        self.num_inst += count
        self.global_num_inst += count

    def update(self, labels, preds):
        """Takes in labels and predictions, lists of one length."""
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            self._add(*self._measure(_numpy(label), _numpy(pred)))

    def update_dict(self, label, pred):
        """The same of dictionaries."""
        labels = [label[n] for n in self.label_names] if self.label_names is not None else list(label.values())
        preds = [pred[n] for n in self.output_names] if self.output_names is not None else list(pred.values())
        self.update(labels, preds)

    def _measure(self, label, pred):
        raise NotImplementedError

    def _value(self, total, count):
        return total / count

    def get(self):
        """(name, value); NaN before anything was seen."""
        return self.name, self._value(self.sum_metric, self.num_inst) if self.num_inst else float("nan")

    def get_global(self):
        """The same, whatever reset_local() forgot. Of a metric whose update() counts in num_inst alone it is get()."""
        if not self.global_num_inst:
            return self.get()
        return self.name, self._value(self.global_sum_metric, self.global_num_inst)

    def get_name_value(self):
        """[(name, value)]."""
        names, values = self.get()
        return list(zip(_listed(names), _listed(values)))

    def get_global_name_value(self):
        """The same, whatever reset_local() forgot."""
        names, values = self.get_global()
        return list(zip(_listed(names), _listed(values)))

    def get_config(self):
        """What the metric was made with, by name."""
        return {**self._kwargs, "metric": type(self).__name__, "name": self.name, "output_names": self.output_names, "label_names": self.label_names}


register = registry.get_register_func(EvalMetric, "metric")
alias = registry.get_alias_func(EvalMetric, "metric")
_create = registry.get_create_func(EvalMetric, "metric")


def create(metric, *args, **kwargs):
    """A metric by its name, of a function, several of a list, or what get_config() says, as a dictionary or as JSON."""
    if isinstance(metric, list):
        return CompositeEvalMetric([create(one, *args, **kwargs) for one in metric])
    return CustomMetric(metric, *args, **kwargs) if callable(metric) else _create(metric, *args, **kwargs)


@register
@alias("composite")
class CompositeEvalMetric(EvalMetric):
    """Several metrics of the same predictions."""

    def __init__(self, metrics=None, name="composite", output_names=None, label_names=None):
        self.metrics = []
        super().__init__(name, output_names, label_names)
        self.metrics = [create(one) for one in metrics or []]  # what they have seen they keep

    def add(self, metric):
        """One more."""
        self.metrics.append(create(metric))

    def get_metric(self, index):
        """One of them."""
        return self.metrics[index]

    def reset(self):
        for metric in self.metrics:
            metric.reset()

    def update(self, labels, preds):
        for metric in self.metrics:
            metric.update(labels, preds)

    def update_dict(self, label, pred):
        """The same of dictionaries: those that this one names, of which each metric takes those that it names."""
        if self.label_names is not None:
            label = {name: a for name, a in label.items() if name in self.label_names}
        if self.output_names is not None:
            pred = {name: a for name, a in pred.items() if name in self.output_names}
        for metric in self.metrics:
            metric.update_dict(label, pred)

    def reset_local(self):
        for metric in self.metrics:
            metric.reset_local()

    def get(self):
        found = [metric.get() for metric in self.metrics]
        return [name for name, _ in found], [value for _, value in found]

    def get_global(self):
        found = [metric.get_global() for metric in self.metrics]
        return [name for name, _ in found], [value for _, value in found]

    def get_config(self):
        return {**super().get_config(), "metrics": [metric.get_config() for metric in self.metrics]}


@register
@alias("acc")
class Accuracy(EvalMetric):
    """The part of predictions whose greatest class is the label."""

    def __init__(self, axis=1, name="accuracy", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, axis=axis)
        self.axis = axis

    def _measure(self, label, pred):
        if pred.shape != label.shape:
            pred = pred.argmax(self.axis)
        label, pred = label.astype("int32").reshape(-1), pred.astype("int32").reshape(-1)
        check_label_shapes(label, pred, shape=True)
        return float((pred == label).sum()), len(pred)


@register
@alias("top_k_accuracy", "top_k_acc")
class TopKAccuracy(EvalMetric):
    """The part of predictions whose k greatest classes hold the label."""

    def __init__(self, top_k=1, name="top_k_accuracy", output_names=None, label_names=None):
        if top_k <= 1:
            raise also(_strop.ValueError, AssertionError)(f"TopKAccuracy: top_k is {top_k}, expected at least 2; Accuracy is that of 1")
        super().__init__(f"{name}_{top_k}", output_names, label_names, top_k=top_k)
        self.top_k = top_k

    def get_config(self):
        return {**super().get_config(), "name": self.name[:-len(f"_{self.top_k}")]}

    def _measure(self, label, pred):
        check_label_shapes(label, pred)
        order = _np.argsort(pred.astype("float32"), axis=-1).reshape(len(pred), -1)[:, -self.top_k:]
        return float((order == label.astype("int32").reshape(-1, 1)).any(1).sum()), len(pred)


class _Binary(EvalMetric):
    """Counts of a prediction of two classes; a metric of each batch or of all together."""

    def __init__(self, name, output_names, label_names, average):
        self.average = average
        super().__init__(name, output_names, label_names, average=average)

    def reset(self):
        super().reset()
        self.counts, self.global_counts = _np.zeros(4), _np.zeros(4)  # true and false positives, false and true negatives

    def reset_local(self):
        super().reset_local()
        self.counts = _np.zeros(4)

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, True)
        here = _np.zeros(4)
        for label, pred in zip(labels, preds):
            label, pred = _numpy(label).astype("int32").reshape(-1), _numpy(pred).argmax(1)
            check_label_shapes(label, pred, shape=True)
            if len(_np.unique(label)) > 2:
                raise _strop.ValueError(f"{self.name}: labels of {len(_np.unique(label))} classes, expected two")
            here += [((pred == p) & (label == l)).sum() for p, l in ((1, 1), (1, 0), (0, 1), (0, 0))]
        if self.average == "macro":  # the mean of the scores of updates
            self._add(self._score(here), 1)
            return
        self.counts, self.global_counts = self.counts + here, self.global_counts + here
        self.num_inst, self.global_num_inst = int(self.counts.sum()), int(self.global_counts.sum())
        self.sum_metric = self._score(self.counts) * self.num_inst
        self.global_sum_metric = self._score(self.global_counts) * self.global_num_inst


@register
class F1(_Binary):
    """The harmonic mean of precision and recall."""

    def __init__(self, name="f1", output_names=None, label_names=None, average="macro"):
        super().__init__(name, output_names, label_names, average)

    def _score(self, counts):
        tp, fp, fn, _ = counts
        return 2 * tp / (2 * tp + fp + fn) if tp else 0.0


@register
class MCC(_Binary):
    """The correlation of labels and predictions of two classes."""

    def __init__(self, name="mcc", output_names=None, label_names=None, average="macro"):
        super().__init__(name, output_names, label_names, average)

    def _score(self, counts):
        tp, fp, fn, tn = counts
        parts = [n for n in (tp + fp, tp + fn, tn + fp, tn + fn) if n]
        return (tp * tn - fp * fn) / math.sqrt(math.prod(parts)) if parts else 0.0


@register
class PCC(EvalMetric):
    """The correlation of labels and predictions of any number of classes, from all that was seen."""

    def __init__(self, name="pcc", output_names=None, label_names=None, has_global_stats=True):
        super().__init__(name, output_names, label_names, has_global_stats=has_global_stats)

    def reset(self):
        super().reset()
        self._here, self._all = _np.zeros((2, 2)), _np.zeros((2, 2))

    def reset_local(self):
        super().reset_local()
        self._here = _np.zeros_like(self._all)

    def _measure(self, label, pred):
        if pred.shape != label.shape:
            pred = pred.argmax(1)
        label, pred = label.astype("int32").reshape(-1), pred.astype("int32").reshape(-1)
        more = max(int(label.max()), int(pred.max())) + 1 - len(self._all)
        if more > 0:
            self._here, self._all = _np.pad(self._here, (0, more)), _np.pad(self._all, (0, more))
        for counts in (self._here, self._all):
            _np.add.at(counts, (pred, label), 1)
        return 0.0, 1

    @staticmethod
    def _score(counts):
        total, of_pred, of_label = counts.sum(), counts.sum(1), counts.sum(0)
        spread = (of_pred * (total - of_pred)).sum() * (of_label * (total - of_label)).sum()
        return float((counts.diagonal() * total - of_pred * of_label).sum() / math.sqrt(spread)) if spread else float("nan")

    def get(self):
        return self.name, self._score(self._here) if self.num_inst else float("nan")

    def get_global(self):
        return self.name, self._score(self._all) if self.global_num_inst else float("nan")


@register
class Perplexity(EvalMetric):
    """exp of the mean of -log of what the labels were given."""

    def __init__(self, ignore_label=None, axis=-1, name="perplexity", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, ignore_label=ignore_label)
        self.ignore_label, self.axis = ignore_label, axis

    def _measure(self, label, pred):
        label = label.astype("int32").reshape(-1)
        pred = _np.moveaxis(pred, self.axis, -1)
        pred = pred.reshape(-1, pred.shape[-1])
        check_label_shapes(label, pred)
        given = pred[_np.arange(len(label)), label]
        kept = _np.ones(len(label), bool) if self.ignore_label is None else label != self.ignore_label
        return float(-_np.log(_np.maximum(1e-10, given[kept])).sum()), int(kept.sum())

    def _value(self, total, count):
        return math.exp(total / count)


def _columns(label, pred):
    return label.reshape(len(label), -1), pred.reshape(len(pred), -1)


@register
class MAE(EvalMetric):
    """The mean of what predictions are off by."""

    def __init__(self, name="mae", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def _measure(self, label, pred):
        label, pred = _columns(label, pred)
        return float(_np.abs(label - pred).mean()), 1


@register
class MSE(EvalMetric):
    """The mean of its squares."""

    def __init__(self, name="mse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def _measure(self, label, pred):
        label, pred = _columns(label, pred)
        return float(((label - pred) ** 2).mean()), 1


@register
class RMSE(MSE):
    """The root of the mean of its squares."""

    def __init__(self, name="rmse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def _measure(self, label, pred):
        return math.sqrt(super()._measure(label, pred)[0]), 1


@register
@alias("ce")
class CrossEntropy(EvalMetric):
    """The mean of -log of what the labels were given."""

    def __init__(self, eps=1e-12, name="cross-entropy", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, eps=eps)
        self.eps = eps

    def _measure(self, label, pred):
        label = label.reshape(-1)
        check_label_shapes(label, pred)
        return float(-_np.log(pred[_np.arange(len(label)), label.astype("int64")] + self.eps).sum()), len(label)


@register
@alias("nll_loss", "nll-loss")
class NegativeLogLikelihood(CrossEntropy):
    """The same by another name."""

    def __init__(self, eps=1e-12, name="nll-loss", output_names=None, label_names=None):
        super().__init__(eps, name, output_names, label_names)


@register
@alias("pearsonr")
class PearsonCorrelation(EvalMetric):
    """The correlation of labels and predictions: the mean over batches, or with average="micro" that of all of them."""

    def __init__(self, name="pearsonr", output_names=None, label_names=None, average="macro"):
        self.average = average
        super().__init__(name, output_names, label_names, average=average)

    def reset(self):
        super().reset()
        self._count, self._mean, self._products = 0, _np.zeros(2), _np.zeros((2, 2))  # of differences from the mean

    def update(self, labels, preds):
        if self.average != "micro":
            super().update(labels, preds)
            return
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            pair = _np.stack([_numpy(label).reshape(-1), _numpy(pred).reshape(-1)]).astype(float)
            count, mean = pair.shape[1], pair.mean(1)
            apart, step, total = pair - mean[:, None], mean - self._mean, self._count + count
            self._products += apart @ apart.T + _np.outer(step, step) * self._count * count / total
            self._mean += step * count / total
            self._count = total
        self.num_inst = self.global_num_inst = 1
        self.sum_metric = self.global_sum_metric = float(self._products[0, 1] / _np.sqrt(self._products[0, 0] * self._products[1, 1]))

    def _measure(self, label, pred):
        return float(_np.corrcoef(pred.reshape(-1), label.reshape(-1))[0, 1]), 1


@register
class Loss(EvalMetric):
    """The mean of outputs that are losses."""

    def __init__(self, name="loss", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def update(self, _, preds):
        for pred in _listed(preds):
            pred = _numpy(pred)
            self._add(float(pred.sum()), pred.size)


@register
class Torch(Loss):
    """The same under the name of what computed the losses."""

    def __init__(self, name="torch", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)


@register
class Caffe(Torch):
    """The same under the name of what computed the losses."""

    def __init__(self, name="caffe", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)


class CustomMetric(EvalMetric):
    """The mean of a function of labels and predictions as arrays of NumPy, which may return (sum, count)."""

    def __init__(self, feval, name=None, allow_extra_outputs=False, output_names=None, label_names=None):
        name = name or getattr(feval, "__name__", "custom")
        super().__init__(f"custom({name})" if "<" in name else name, output_names, label_names)
        self._feval, self._allow_extra_outputs = feval, allow_extra_outputs

    def update(self, labels, preds):
        labels, preds = _listed(labels), _listed(preds)
        if not self._allow_extra_outputs:
            check_label_shapes(labels, preds)
        for label, pred in zip(labels, preds):
            found = self._feval(_numpy(label), _numpy(pred))
            self._add(*(found if isinstance(found, tuple) else (found, 1)))


def np_metric(numpy_feval, name=None, allow_extra_outputs=False):
    """A metric of a function of arrays of NumPy."""
    return CustomMetric(numpy_feval, name, allow_extra_outputs)


np = np_metric
