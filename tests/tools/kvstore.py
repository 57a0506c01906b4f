#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Distributed stores under mpirun: kvstore.py PROGRAM COMMAND (tests/kvstore/processes.cpp, `strop`).

Workers on this machine have, bit for bit, what one process has; one that dies, leaves or makes other calls ends the
others, and they say who and where. `strop train` of several workers writes the checkpoints of one process, byte for byte,
also where it was interrupted. Skipped where mpirun is not there.
"""
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

from common import Report, run, shown

MOST = 60  # seconds, many times what the end of all takes after the end of one: a guard against workers that hang
# What the last of three workers does (`first`: both but the first), and what somebody has to say of it; mpirun speaks of one that was killed.
ENDS = {
    "killed": r"KVStore: worker 2 \(process \d+ on \S+\) has died|process rank 2 .* exited on signal 9",
    "leaves": r"KVStore: worker 2 \(process \d+ on \S+\) has ended, and worker \d waits for it at push of 'w'",
    "first": r"KVStore: worker [12] \(process \d+ on \S+\) has ended, and worker 0 waits for it at push of 'w'",
    "throws": r"this worker has had enough",
    "async killed": r"KVStore: worker 2 \(process \d+ on \S+\) has died|process rank 2 .* exited on signal 9",
    "async throws": r"this worker has had enough",
    "async garbled": r"KVStore: worker 0 got a request of worker 2 that another version of strop sends",
    "async odd": r"KVStore: the updater threw for 'w' what is no std::exception",
    "differs": r"is at another call than worker \d, which is at push of '[ab]': all workers make the same calls",
}


def put_images(folder):
    """Fashion-MNIST in small: 96 images to learn from and 40 to test, each with a bright column that says its class."""
    for part, count in (("train", 96), ("t10k", 40)):
        pixels = bytearray()
        for image in range(count):
            for row in range(20):
                for column in range(20):
                    bright = column // 2 == image % 10
                    pixels.append(255 if bright and (row + image) % 3 else (row * 31 + column * 7 + image * 13) % 90)
        with open(os.path.join(folder, f"{part}-images-idx3-ubyte"), "wb") as file:
            file.write(struct.pack(">4i", 0x803, count, 20, 20) + pixels)
        with open(os.path.join(folder, f"{part}-labels-idx1-ubyte"), "wb") as file:
            file.write(struct.pack(">2i", 0x801, count) + bytes(image % 10 for image in range(count)))


def check_training(report, base, strop, folder, env):
    """Checkpoints of workers and of one process; a training that was killed goes on."""
    put_images(folder)

    def said(workers, prefix, *words, epochs="3"):
        command = [*(base + ["-n", str(workers)] if workers else []), strop, "train", "--data", ".", "--batch", "24", "--rate", "0.02",
                   "--epochs", epochs, "--checkpoint", prefix, *words]
        status, out, err = run(command, timeout=120, env=env, cwd=folder)
        return shown(command), status, out + err

    def files(prefix):
        made = {}
        for epoch in (1, 2, 3):
            for ending in ("params", "states"):
                path = os.path.join(folder, f"{prefix}-{epoch:04d}.{ending}")
                made[epoch, ending] = open(path, "rb").read() if os.path.exists(path) else None
        return made

    def check(name, good, text):
        report.passed(name) if good else report.failed(name, text)

    def losses(text):
        return re.findall(r"epoch ./. +(loss \S+ +test accuracy \S+)", text)

    for net, workers in (("mlp", 2), ("lenet", 2), ("mlp", 4)):
        name = f"train {net} {workers}"
        if not report.wanted(name):
            continue
        alone = said(0, "one", "--net", net, "--parts", str(workers))
        many = said(workers, "many", "--net", net)
        made = files("one")
        check(name, alone[1] == many[1] == 0 and None not in made.values() and made == files("many")
              and len(losses(alone[2])) == 3 and losses(alone[2]) == losses(many[2])
              and f"{workers} workers, store dist_sync" in many[2] and re.search(r"worker 0 sent [0-9.]+ MB and received", many[2]),
              "\n".join([*alone[:1], alone[2], *many[:1], many[2]]))

    if report.wanted("train resumed"):
        whole = said(2, "whole", "--checkpoint-every", "2")
        made = files("whole")
        for ending in ("params", "states"):
            path = os.path.join(folder, f"whole-0003.{ending}")
            if os.path.exists(path):
                os.remove(path)
        on = said(2, "whole", "--checkpoint-every", "2", "--resume")
        others = said(3, "whole", "--resume"), said(2, "whole", "--resume", "--momentum", "0.5"), said(2, "new", "--resume")
        check("train resumed", whole[1] == on[1] == 0 and made == files("whole") and made[1, "params"] is None
              and made[2, "params"] is not None and "goes on from whole-0002.params" in on[2]
              and losses(on[2]) == losses(whole[2])[2:] and others[0][1] == 0
              and others[1][1] != 0 and "whole-0003.params is of another training (" in others[1][2]
              and others[2][1] == 0 and "there is no checkpoint new-0001.params or later" in others[2][2],
              "\n".join(text for one in (whole, on, *others) for text in (one[0], one[2])))

    if report.wanted("train async"):
        apart = said(2, "apart", "--kvstore", "dist_async", epochs="8")
        right = re.search(r"test accuracy (\S+) after", apart[2])
        check("train async", apart[1] == 0 and right and float(right[1]) > 0.9, f"{apart[0]}\n{apart[2]}")

    if report.wanted("train refused"):
        for workers, words, why in ((0, ["--parts", "5"], "expected a multiple of --parts, 5"),
                                    (5, [], "--batch is 24, expected a multiple of the 5 workers"),
                                    (2, ["--parts", "3"], "--parts is 3, expected one for each of the 2 workers"),
                                    (2, ["--parts", "2", "--kvstore", "dist_async"], "take whole batches"),
                                    (0, ["--mode", "both"], "--checkpoint is of one training")):
            command, status, text = said(workers, "refused", *words)
            check(f"train refused: {why}", status != 0 and why in text, f"{command}\n{text}")

    if report.wanted("train slow") and not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        report.skipped("train slow", "this kernel does not list the children of a process")
    elif report.wanted("train slow"):
        command = [*base, "-n", "2", strop, "train", "--data", ".", "--net", "lenet", "--batch", "96", "--rate", "0.02",
                   "--epochs", "1000", "--progress"]
        with subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              start_new_session=True) as training:
            workers = []
            try:
                text = training.stdout.readline() + training.stdout.readline()
                children = f"/proc/{training.pid}/task/{training.pid}/children"
                workers = [int(child) for child in open(children, encoding="ascii").read().split()]
                for _ in range(60 if len(workers) == 2 else 0):  # the second one sleeps most of the time
                    os.kill(workers[1], signal.SIGSTOP)
                    time.sleep(0.15)
                    os.kill(workers[1], signal.SIGCONT)
                    time.sleep(0.05)
            finally:
                os.killpg(training.pid, signal.SIGTERM)
                text += training.stdout.read()
        check("train slow", len(workers) == 2 and re.search(r"images/s  worker 1 is slow: others wait for it \d+ % of the time", text),
              f"{shown(command)}\n{text}")


def main():
    report = Report("kvstore", by_file=False)
    mpirun = shutil.which("mpirun")
    if mpirun is None or "Open MPI" not in run([mpirun, "--version"])[1]:
        report.skipped("kvstore", "OpenMPI's mpirun is not installed (apt-get install openmpi-bin)")
        report.finish()
    program, *strop = (os.path.abspath(path) for path in sys.argv[1:3])
    folder = tempfile.mkdtemp(prefix="strop-kvstore-")
    base = [mpirun, "--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]
    threads = {**os.environ, "STROP_NUM_THREADS": "1", "TMPDIR": folder}

    def start(workers, what):
        command = [*base, "-n", workers, program, what, os.path.join(folder, "kvstore.states")]
        begin = time.monotonic()
        status, out, err = run(command, timeout=120, env=threads, cwd=folder)
        return shown(command), status, out + err, time.monotonic() - begin

    try:
        # What `async saves` writes with two workers, `async loads` reads with three.
        for what, workers in (("fine", 1), ("fine", 2), ("fine", 4), ("async fine", 3), ("async saves", 2), ("async loads", 3)):
            name = f"{what} {workers}"
            if not report.wanted(name):
                continue
            command, status, text, seconds = start(workers, what)
            print(f"{seconds:6.1f} s  {name}", *re.findall(r"(?m)^\d+ bytes: \d+ us", text), sep="  ", flush=True)
            if status == 0 and f"{what.split()[-1]}: {workers} workers are done" in text:
                report.passed(name)
            else:
                report.failed(name, f"{command}\nended with status {status}\n{text}")
        for what, said in ENDS.items():
            if not report.wanted(what):
                continue
            command, status, text, seconds = start(3, what)
            print(f"{seconds:6.1f} s  {what}", flush=True)
            if status in (0, 124) or seconds > MOST or not re.search(said, text):
                report.failed(what, f"{command}\nended with status {status} after {seconds:.1f} s (at most {MOST}), "
                                    f"and has to say {said}\n{text}")
            else:
                report.passed(what)
        if strop:
            check_training(report, base, strop[0], folder, threads)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report.finish()


if __name__ == "__main__":
    main()
