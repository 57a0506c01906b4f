# SPDX-License-Identifier: Apache-2.0
"""Sentences as numbers, and batches of sentences of like length."""
import bisect
import logging
import random

import numpy as np

from .. import _strop, nd
from ..base import also
from ..io import DataBatch, DataDesc, DataIter

__all__ = ["BucketSentenceIter", "encode_sentences"]


def encode_sentences(sentences, vocab=None, invalid_label=-1, invalid_key="\n", start_label=0, unknown_token=None):
    """(sentences as lists of numbers, {word: number}). Without a vocabulary one is made, from start_label on, where
    invalid_key has invalid_label; words that a given one lacks count as unknown_token, or are an error."""
    new = vocab is None
    vocab = {invalid_key: invalid_label} if new else vocab
    following = start_label

    def number(word):
        nonlocal following
        if word not in vocab:
            if not new and not unknown_token:
                raise also(_strop.ValueError, AssertionError)(f"encode_sentences: {word!r} is not in the vocabulary, and there is no unknown_token")
            word = unknown_token or word
        if word not in vocab:
            following += following == invalid_label
            vocab[word] = following
            following += 1
        return vocab[word]

    return [[number(word) for word in sentence] for sentence in sentences], vocab


class BucketSentenceIter(DataIter):
    """Batches of sentences of numbers, each filled up to the length of its bucket with invalid_label; a batch's bucket_key is
    that length. Labels are the words that follow. Without buckets every length that fills a batch is one. What is longer
    than all, and what does not fill a batch, is left out. Sentences and batches are shuffled at each reset()."""

    def __init__(self, sentences, batch_size, buckets=None, invalid_label=-1, data_name="data", label_name="softmax_label", dtype="float32",
                 layout="NT"):
        super().__init__(batch_size)
        if layout.find("N") not in (0, 1):
            raise _strop.ValueError(f"BucketSentenceIter: layout is {layout!r}, expected NT or TN")
        buckets = sorted(buckets or [length for length, number in enumerate(np.bincount([len(s) for s in sentences])) if number >= batch_size])
        filled, longer = [[] for _ in buckets], 0
        for sentence in sentences:
            which = bisect.bisect_left(buckets, len(sentence))
            if which == len(buckets):
                longer += 1
                continue
            row = np.full((buckets[which],), invalid_label, dtype=dtype)
            row[:len(sentence)] = sentence
            filled[which].append(row)
        if longer:
            logging.warning("BucketSentenceIter: %d sentences are longer than the largest bucket, and left out", longer)
        self.buckets = [length for length, rows in zip(buckets, filled) if rows]
        if not self.buckets:
            raise _strop.ValueError("BucketSentenceIter: no bucket has sentences")
        self.data = [np.asarray(rows, dtype=dtype) for rows in filled if rows]
        self.data_name, self.label_name, self.dtype, self.invalid_label = data_name, label_name, dtype, invalid_label
        self.layout, self.major_axis = layout, layout.find("N")
        self.default_bucket_key = max(self.buckets)
        shape = (batch_size, self.default_bucket_key) if self.major_axis == 0 else (self.default_bucket_key, batch_size)
        self.provide_data, self.provide_label = self._described(data_name, shape), self._described(label_name, shape)
        self.idx = [(which, row) for which, rows in enumerate(self.data) for row in range(0, len(rows) - batch_size + 1, batch_size)]
        self.reset()

    def _described(self, name, shape):
        return [DataDesc(name, shape, layout=self.layout)]

    def reset(self):
        self.curr_idx = 0
        random.shuffle(self.idx)
        self.nddata, self.ndlabel = [], []
        for rows in self.data:
            np.random.shuffle(rows)
            following = np.full_like(rows, self.invalid_label)
            following[:, :-1] = rows[:, 1:]
            self.nddata.append(nd.array(rows, dtype=self.dtype))
            self.ndlabel.append(nd.array(following, dtype=self.dtype))

    def next(self):
        if self.curr_idx == len(self.idx):
            raise StopIteration
        which, row = self.idx[self.curr_idx]
        self.curr_idx += 1
        data, label = (arrays[which][row:row + self.batch_size] for arrays in (self.nddata, self.ndlabel))
        if self.major_axis == 1:
            data, label = data.T, label.T
        return DataBatch([data], [label], pad=0, bucket_key=self.buckets[which], provide_data=self._described(self.data_name, data.shape),
                         provide_label=self._described(self.label_name, label.shape))
