# SPDX-License-Identifier: Apache-2.0
"""RecordIO files: byte strings one behind the other, with an index where one is asked for, and the header of images.

A record is the magic number, a word whose upper three bits say which part of a longer record it is and the others how
many bytes follow, the bytes, and zeros up to a multiple of four.
"""
import os
import struct
from collections import namedtuple

import numpy as np

from . import _strop, nd
from .base import also, counted, file_error

__all__ = ["IRHeader", "MXIndexedRecordIO", "MXRecordIO", "pack", "pack_img", "unpack", "unpack_img"]

_MAGIC = 0xCED7230A
_MARK = struct.pack("<I", _MAGIC)
_WHOLE, _FIRST, _MIDDLE, _LAST = range(4)
_LONGEST = (1 << 29) - 1


class MXRecordIO:
    """A file of records: with flag "w" it is written from the beginning, with "r" read."""

    def __init__(self, uri, flag):
        if flag not in ("r", "w"):
            raise _strop.ValueError(f"MXRecordIO: flag is {flag!r}, expected r or w")
        self.uri, self.flag = os.fspath(uri), flag
        self.writable = flag == "w"
        self.is_open = False
        self.open()

    def open(self):
        """Opens the file."""
        try:
            self._file = open(self.uri, "wb" if self.writable else "rb")  # pylint: disable=consider-using-with
        except OSError as error:
            raise file_error(f"MXRecordIO: {error.strerror}: {self.uri!r}", error) from error
        self.pid, self.is_open = os.getpid(), True

    def close(self):
        """Closes it."""
        if self.is_open:
            self._file.close()
            self.is_open = False

    def __del__(self):
        if getattr(self, "is_open", False):
            self.close()

    def __getstate__(self):
        """Without the file, which whoever takes it over opens again."""
        state = dict(self.__dict__)
        state["is_open"] = self.is_open
        del state["_file"]
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        was_open, self.is_open = state["is_open"], False
        if was_open:
            self.open()

    def _check(self, writing):
        if not self.is_open or writing != self.writable:
            raise also(_strop.Error, AssertionError)(f"MXRecordIO: {self.uri} is {'closed' if not self.is_open else 'open for writing' if self.writable else 'open for reading'}")
        if self.pid != os.getpid():  # after fork the two processes would share one position
            if writing:
                raise also(_strop.Error, AssertionError)(f"MXRecordIO: {self.uri} is written by another process; call reset() after fork")
            self.reset()

    def reset(self):
        """Closes the file and opens it again, at its beginning."""
        self.close()
        self.open()

    def write(self, buf):
        """Adds a record. Bytes that look like the beginning of one split it into parts."""
        self._check(True)
        data = bytes(buf)
        cuts = [i for i in range(0, len(data) - 3, 4) if data[i:i + 4] == _MARK] if _MARK in data else []
        begins, ends = [0] + [cut + 4 for cut in cuts], cuts + [len(data)]
        for i, (begin, end) in enumerate(zip(begins, ends)):
            if end - begin > _LONGEST:
                raise _strop.ValueError(f"MXRecordIO: a record of {counted(len(data), 'byte')}, expected at most {_LONGEST}")
            part = _WHOLE if len(begins) == 1 else _FIRST if i == 0 else _LAST if i + 1 == len(begins) else _MIDDLE
            self._file.write(struct.pack("<II", _MAGIC, part << 29 | end - begin) + data[begin:end] + b"\0" * (-(end - begin) % 4))

    def read(self):
        """The next record; None behind the last one."""
        self._check(False)
        parts = []
        while True:
            head = self._file.read(8)
            if not head and not parts:
                return None
            if len(head) < 8 or head[:4] != _MARK:
                raise _strop.ValueError(f"MXRecordIO: {self.uri} has no record at byte {self._file.tell() - len(head)}")
            word = struct.unpack("<I", head[4:])[0]
            part, length = word >> 29, word & _LONGEST
            data = self._file.read(length + -length % 4)
            if len(data) < length or (part in (_WHOLE, _FIRST)) != (not parts) or part > _LAST:
                raise _strop.ValueError(f"MXRecordIO: {self.uri} ends within a record, or a part of one is missing, at byte {self._file.tell()}")
            parts.append(data[:length])
            if part in (_WHOLE, _LAST):
                return _MARK.join(parts)


class MXIndexedRecordIO(MXRecordIO):
    """A file of records with an index file beside it: a key and a position per line."""

    def __init__(self, idx_path, uri, flag, key_type=int):
        self.idx_path, self.key_type = os.fspath(idx_path), key_type
        self.idx, self.keys = {}, []
        super().__init__(uri, flag)

    def open(self):
        super().open()
        self.idx, self.keys = {}, []
        if self.writable:
            return
        try:
            with open(self.idx_path, encoding="utf-8-sig") as lines:  # with or without a byte order mark
                for line in lines:
                    key, position = line.rstrip("\n").split("\t")
                    self.idx[self.key_type(key)] = int(position)
                    self.keys.append(self.key_type(key))
        except OSError as error:
            self.close()
            raise file_error(f"MXIndexedRecordIO: {error.strerror}: {self.idx_path!r}", error) from error
        except ValueError as error:
            self.close()
            raise _strop.Error(f"MXIndexedRecordIO: {self.idx_path} cannot be read as an index: {error}") from error

    def close(self):
        if self.is_open and self.writable:
            with open(self.idx_path, "w", encoding="utf-8") as lines:
                lines.writelines(f"{key}\t{self.idx[key]}\n" for key in self.keys)
        super().close()

    def seek(self, idx):
        """Goes to the record of a key."""
        self._check(False)
        if idx not in self.idx:
            raise also(_strop.IndexError, KeyError)(f"MXIndexedRecordIO: {self.idx_path} has no key {idx!r}")
        self._file.seek(self.idx[idx])

    def tell(self):
        """Where the next record will be written."""
        self._check(True)
        return self._file.tell()

    def read_idx(self, idx):
        """The record of a key."""
        self.seek(idx)
        return self.read()

    def write_idx(self, idx, buf):
        """Adds a record under a key."""
        key = self.key_type(idx)
        position = self.tell()
        self.write(buf)
        self.idx[key] = position
        self.keys.append(key)


IRHeader = namedtuple("HEADER", ["flag", "label", "id", "id2"])
_HEADER = struct.Struct("<IfQQ")


def pack(header, s):
    """A header (flag, label, id, id2) and bytes as one record. A label of several numbers stands behind the header, and the
    flag says how many they are."""
    header = IRHeader(*header)
    if isinstance(header.label, (int, float, np.number)):
        return _HEADER.pack(0, float(header.label), header.id, header.id2) + s
    label = np.asarray(header.label, dtype=np.float32)
    return _HEADER.pack(label.size, 0.0, header.id, header.id2) + label.tobytes() + s


def unpack(s):
    """(header, bytes) of a record that pack() made."""
    if len(s) < _HEADER.size:
        raise _strop.ValueError(f"unpack: {counted(len(s), 'byte')}, a header has {_HEADER.size}")
    header, rest = IRHeader(*_HEADER.unpack(s[:_HEADER.size])), s[_HEADER.size:]
    if header.flag == 0:
        return header, rest
    if len(rest) < 4 * header.flag:
        raise _strop.ValueError(f"unpack: {counted(len(rest), 'byte')} behind the header, expected a label of {header.flag} numbers")
    return header._replace(label=np.frombuffer(rest, np.float32, header.flag)), rest[4 * header.flag:]


def pack_img(header, img, quality=95, img_fmt=".jpg"):
    """A record of a header and the JPEG or PNG bytes of an image of uint8, whose channels are blue, green, red, as in MXNet. quality is
    of JPEG; of PNG it says nothing."""
    found = np.asarray(img.asnumpy() if hasattr(img, "asnumpy") else img)
    if found.ndim == 2:
        found = found[:, :, None]
    if found.dtype != np.uint8 or found.ndim != 3:
        raise _strop.ValueError(f"pack_img: the image is {found.dtype} of shape {found.shape}, expected uint8 of (height, width, channels)")
    return pack(header, _strop.image_encode(nd.array(np.ascontiguousarray(found[:, :, ::-1]), dtype=np.uint8), img_fmt.lower(), int(quality)))


def unpack_img(s, iscolor=-1):
    """(header, image) of a record that pack_img() made: a NumPy array (height, width, 3), blue, green, red, or (height, width) where iscolor is 0."""
    header, held = unpack(s)
    image = _strop.image_decode(held, 0 if iscolor == 0 else 1, False).asnumpy()
    return header, image[:, :, 0] if iscolor == 0 else image
