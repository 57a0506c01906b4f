# SPDX-License-Identifier: Apache-2.0
"""Pictures: decoding, resizing, crops, what augments them, and iterators over them. An image is an array (height, width, channels)."""
import json
import os
import random

import numpy as np

from . import _strop, nd, recordio
from .base import _dtype_name, also, counted, file_error, integer_types, path_of
from .io import DataBatch, DataDesc, DataIter
from .ndarray import NDArray

__all__ = ["Augmenter", "BrightnessJitterAug", "CastAug", "CenterCropAug", "ColorJitterAug", "ColorNormalizeAug", "ContrastJitterAug", "CreateAugmenter", "ForceResizeAug",
           "HorizontalFlipAug", "HueJitterAug", "ImageIter", "LightingAug", "RandomCropAug", "RandomGrayAug", "RandomOrderAug", "RandomSizedCropAug", "ResizeAug",
           "SaturationJitterAug", "SequentialAug", "center_crop", "color_normalize", "fixed_crop", "imdecode", "imencode", "imread", "imresize", "random_crop",
           "random_size_crop", "resize_short", "scale_down"]


def _given(made, out):
    if out is None:
        return made
    out[:] = made
    return out


def imdecode(buf, flag=1, to_rgb=True, out=None):
    """The picture that the bytes of a JPEG or PNG file are: uint8 of shape (height, width, 3), or (height, width, 1) with flag 0. Without
    to_rgb channels are blue, green, red."""
    if isinstance(buf, NDArray):
        buf = buf.asnumpy()
    if isinstance(buf, np.ndarray):
        if buf.dtype != np.uint8:
            raise also(_strop.ValueError, TypeError)(f"imdecode: buf is an array of {buf.dtype}, expected uint8")
        buf = np.ascontiguousarray(buf)
    try:
        held = memoryview(buf)
    except TypeError:
        raise _strop.TypeError(f"imdecode: buf is of type {type(buf).__name__}, expected bytes or an array of uint8") from None
    if len(held) == 0:
        raise _strop.ValueError("imdecode: buf has no bytes")
    return _given(_strop.image_decode(held, int(flag), bool(to_rgb)), out)


def imencode(src, img_fmt=".jpg", quality=95):
    """The bytes of a JPEG or PNG file of an image of uint8, whose channels are red, green, blue."""
    return _strop.image_encode(_image(src, "imencode"), img_fmt, int(quality))


def imread(filename, flag=1, to_rgb=True, out=None):
    """The picture of a file; see imdecode()."""
    path = path_of(filename, "imread")
    try:
        with open(path, "rb") as file:
            held = file.read()
    except OSError as error:
        raise file_error(f"imread: {os.fsdecode(path)}: {error.strerror or error}", error) from error
    try:
        return imdecode(held, flag, to_rgb, out)
    except _strop.Error as error:
        raise _strop.ValueError(f"imread: {os.fsdecode(path)}: {error}") from error


def _image(src, function):
    """An image as an array of ours."""
    src = src if isinstance(src, NDArray) else nd.array(src, dtype=np.asarray(src).dtype)
    if len(src.shape) != 3:
        raise _strop.ValueError(f"{function}: the image has shape {src.shape}, expected (height, width, channels)")
    return src


def _method(interp, height, width, new_height, new_width):
    """9: by whether the image becomes larger or smaller; 10: any."""
    if interp == 9:
        return 2 if new_height > height and new_width > width else 3 if new_height < height and new_width < width else 1
    return random.randint(0, 4) if interp == 10 else interp


def imresize(src, w, h, interp=1, out=None):
    """An image in another size: interp 0 is nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos; 9 is bicubic where the image becomes larger,
    area where it becomes smaller, else bilinear; 10 is any of them. Of floats, elements are rounded to uint8 before where they lie in 0 to 255."""
    src = _image(src, "imresize")
    method = _method(interp, src.shape[0], src.shape[1], h, w)
    if src.dtype == np.uint8:
        return _given(_strop.image_resize(src, w, h, method), out)
    values = src.asnumpy()
    if values.size and (values.min() < 0 or values.max() > 255):
        raise _strop.ValueError(f"imresize: the image has elements from {values.min()} to {values.max()}, expected 0 to 255; resize before they are changed")
    resized = _strop.image_resize(nd.array(np.rint(values), dtype=np.uint8), w, h, method)
    return _given(resized.astype(src.dtype), out)


def scale_down(src_size, size):
    """A size (width, height), made smaller to lie in that of an image with its ratio kept."""
    (w, h), (src_w, src_h) = size, src_size
    if src_h < h:
        w, h = float(w * src_h) / h, src_h
    if src_w < w:
        w, h = src_w, float(h * src_w) / w
    return int(w), int(h)


def resize_short(src, size, interp=2):
    """The image with a shorter edge of `size` pixels, the ratio of the edges kept."""
    h, w = src.shape[:2]
    new_h, new_w = (size * h // w, size) if h > w else (size, size * w // h)
    return imresize(src, new_w, new_h, interp)


def fixed_crop(src, x0, y0, w, h, size=None, interp=2):
    """The w by h pixels from column x0 and row y0 on, resized to size (width, height) where that is given."""
    out = _strop.image_crop(_image(src, "fixed_crop"), int(x0), int(y0), int(w), int(h))
    return imresize(out, *size, interp=interp) if size is not None and (w, h) != tuple(size) else out


def random_crop(src, size, interp=2):
    """(A crop of size (width, height) anywhere in the image, (x0, y0, width, height)); where the image is smaller, a smaller crop is resized."""
    h, w = src.shape[:2]
    new_w, new_h = scale_down((w, h), size)
    x0, y0 = random.randint(0, w - new_w), random.randint(0, h - new_h)
    return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)


def center_crop(src, size, interp=2):
    """(The crop of size (width, height) in the middle, (x0, y0, width, height)); where the image is smaller, a smaller crop is resized."""
    h, w = src.shape[:2]
    new_w, new_h = scale_down((w, h), size)
    x0, y0 = (w - new_w) // 2, (h - new_h) // 2
    return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)


def random_size_crop(src, size, area, ratio, interp=2):
    """(A crop of a random share of the area, from `area` to 1 or of the two, and of a random ratio of width to height, resized to size,
    (x0, y0, width, height)); after ten that do not fit, the one in the middle."""
    h, w = src.shape[:2]
    low, high = (area, 1.0) if isinstance(area, (int, float)) else area
    for _ in range(10):
        wanted, log_ratio = random.uniform(low, high) * h * w, random.uniform(np.log(ratio[0]), np.log(ratio[1]))
        new_w, new_h = int(round(np.sqrt(wanted * np.exp(log_ratio)))), int(round(np.sqrt(wanted / np.exp(log_ratio))))
        if 0 < new_w <= w and 0 < new_h <= h:
            x0, y0 = random.randint(0, w - new_w), random.randint(0, h - new_h)
            return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)
    return center_crop(src, size, interp)


def color_normalize(src, mean, std=None):
    """(src - mean) / std; a mean or std of None is passed over."""
    if mean is not None:
        src = src - mean
    return src if std is None else src / std


class Augmenter:
    """What changes an image: derive, and write __call__(src)."""

    def __init__(self, **kwargs):
        self._kwargs = {name: value.asnumpy().tolist() if isinstance(value, NDArray) else value.tolist() if isinstance(value, np.ndarray) else value for name, value in kwargs.items()}

    def dumps(self):
        """The name and the parameters as JSON."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src):
        """The image, changed."""
        raise NotImplementedError("Augmenter: __call__ is written by who derives from it")


class SequentialAug(Augmenter):
    """One after the other."""

    def __init__(self, ts):
        super().__init__()
        self.ts = ts

    def dumps(self):
        return [type(self).__name__.lower(), [one.dumps() for one in self.ts]]

    def __call__(self, src):
        for one in self.ts:
            src = one(src)
        return src


class RandomOrderAug(SequentialAug):
    """One after the other, in an order that is drawn for each image."""

    def __call__(self, src):
        random.shuffle(self.ts)
        return super().__call__(src)


class _Sized(Augmenter):
    """What makes images of another size."""

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp


class ResizeAug(_Sized):
    """The shorter edge becomes `size` pixels long."""

    def __call__(self, src):
        return resize_short(src, self.size, self.interp)


class ForceResizeAug(_Sized):
    """The image becomes of size (width, height), its ratio not kept."""

    def __call__(self, src):
        return imresize(src, *self.size, interp=self.interp)


class RandomCropAug(_Sized):
    """See random_crop()."""

    def __call__(self, src):
        return random_crop(src, self.size, self.interp)[0]


class RandomSizedCropAug(Augmenter):
    """See random_size_crop()."""

    def __init__(self, size, area, ratio, interp=2):
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        self.size, self.area, self.ratio, self.interp = size, area, ratio, interp

    def __call__(self, src):
        return random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


class CenterCropAug(_Sized):
    """See center_crop()."""

    def __call__(self, src):
        return center_crop(src, self.size, self.interp)[0]


_LUMINANCE = np.array([[[0.299, 0.587, 0.114]]], np.float32)


def _real(src):
    """The image as NumPy's floats."""
    return src.asnumpy().astype(np.float32, copy=False)


class BrightnessJitterAug(Augmenter):
    """The image times 1 + a, a drawn from -brightness to brightness."""

    def __init__(self, brightness):
        super().__init__(brightness=brightness)
        self.brightness = brightness

    def __call__(self, src):
        return nd.array(_real(src) * np.float32(1.0 + random.uniform(-self.brightness, self.brightness)))


class ContrastJitterAug(Augmenter):
    """The image times 1 + a, and its mean luminance times -a; a is drawn from -contrast to contrast."""

    def __init__(self, contrast):
        super().__init__(contrast=contrast)
        self.contrast = contrast

    def __call__(self, src):
        alpha, image = 1.0 + random.uniform(-self.contrast, self.contrast), _real(src)
        gray = (3.0 * (1.0 - alpha) / image.size) * np.sum(image * _LUMINANCE)
        return nd.array(image * np.float32(alpha) + np.float32(gray))


class SaturationJitterAug(Augmenter):
    """The image times 1 + a, and the luminance of each pixel times -a; a is drawn from -saturation to saturation."""

    def __init__(self, saturation):
        super().__init__(saturation=saturation)
        self.saturation = saturation

    def __call__(self, src):
        alpha, image = 1.0 + random.uniform(-self.saturation, self.saturation), _real(src)
        return nd.array(image * np.float32(alpha) + np.sum(image * _LUMINANCE, axis=2, keepdims=True) * np.float32(1.0 - alpha))


class HueJitterAug(Augmenter):
    """Colors are turned by pi times a, drawn from -hue to hue, in the plane of equal luminance (YIQ)."""

    _TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
    _FROM_YIQ = np.array([[1.0, 0.956, 0.621], [1.0, -0.272, -0.647], [1.0, -1.107, 1.705]])

    def __init__(self, hue):
        super().__init__(hue=hue)
        self.hue = hue

    def __call__(self, src):
        angle = np.pi * random.uniform(-self.hue, self.hue)
        turn = np.array([[1.0, 0.0, 0.0], [0.0, np.cos(angle), -np.sin(angle)], [0.0, np.sin(angle), np.cos(angle)]])
        return nd.array(_real(src) @ (self._FROM_YIQ @ turn @ self._TO_YIQ).T.astype(np.float32))


class ColorJitterAug(RandomOrderAug):
    """Brightness, contrast and saturation, in an order that is drawn."""

    def __init__(self, brightness, contrast, saturation):
        super().__init__([made(share) for made, share in ((BrightnessJitterAug, brightness), (ContrastJitterAug, contrast), (SaturationJitterAug, saturation)) if share > 0])


class LightingAug(Augmenter):
    """Adds the principal colors, each times its eigenvalue and a number drawn from a normal distribution of deviation alphastd."""

    def __init__(self, alphastd, eigval, eigvec):
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd, self.eigval, self.eigvec = alphastd, np.asarray(eigval), np.asarray(eigvec)

    def __call__(self, src):
        drawn = np.random.normal(0, self.alphastd, size=(3,))
        return nd.array(_real(src) + np.dot(self.eigvec * drawn, self.eigval).astype(np.float32))


class ColorNormalizeAug(Augmenter):
    """See color_normalize()."""

    def __init__(self, mean, std):
        super().__init__(mean=mean, std=std)
        self.mean, self.std = (None if numbers is None else numbers if isinstance(numbers, NDArray) else nd.array(numbers) for numbers in (mean, std))

    def __call__(self, src):
        return color_normalize(src, self.mean, self.std)


class RandomGrayAug(Augmenter):
    """With probability p every channel becomes the luminance."""

    _MIX = np.array([[0.21, 0.21, 0.21], [0.72, 0.72, 0.72], [0.07, 0.07, 0.07]], np.float32)

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src):
        return nd.array(_real(src) @ self._MIX) if random.random() < self.p else src


class HorizontalFlipAug(Augmenter):
    """With probability p the columns come in reverse order."""

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src):
        return _strop.image_mirror(src) if random.random() < self.p else src


class CastAug(Augmenter):
    """The image in another type, float32 unless said."""

    def __init__(self, typ="float32"):
        super().__init__(type=typ)
        self.typ = typ

    def __call__(self, src):
        return src.astype(self.typ)


def CreateAugmenter(data_shape, resize=0, rand_crop=False, rand_resize=False, rand_mirror=False, mean=None, std=None, brightness=0, contrast=0, saturation=0, hue=0,
                    pca_noise=0, rand_gray=0, inter_method=2):
    """The usual list of augmenters: resize, a crop to data_shape (channels, height, width), mirroring, colors, normalisation. A mean or std of
    True is that of ImageNet."""
    made = [ResizeAug(resize, inter_method)] if resize > 0 else []
    size = (data_shape[2], data_shape[1])
    if rand_resize:
        if not rand_crop:
            raise also(_strop.ValueError, AssertionError)("CreateAugmenter: rand_resize is set, expected rand_crop to be set as well")
        made.append(RandomSizedCropAug(size, 0.08, (3.0 / 4.0, 4.0 / 3.0), inter_method))
    else:
        made.append((RandomCropAug if rand_crop else CenterCropAug)(size, inter_method))
    if rand_mirror:
        made.append(HorizontalFlipAug(0.5))
    made.append(CastAug())
    if brightness or contrast or saturation:
        made.append(ColorJitterAug(brightness, contrast, saturation))
    if hue:
        made.append(HueJitterAug(hue))
    if pca_noise > 0:
        vectors = [[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]]
        made.append(LightingAug(pca_noise, np.array([55.46, 4.794, 1.148]), np.array(vectors)))
    if rand_gray > 0:
        made.append(RandomGrayAug(rand_gray))
    numbers = []
    for what, given, usual in (("mean", mean, [123.68, 116.28, 103.53]), ("std", std, [58.395, 57.12, 57.375])):
        found = None if given is None or given is False else np.array(usual if given is True else given.asnumpy() if isinstance(given, NDArray) else given, np.float32)
        if found is not None and found.shape not in ((1,), (3,)):
            raise also(_strop.ValueError, AssertionError)(f"CreateAugmenter: {what} has shape {found.shape}, expected 1 or 3 numbers")
        numbers.append(found)
    return made + ([ColorNormalizeAug(*numbers)] if numbers[0] is not None or numbers[1] is not None else [])


class ImageIter(DataIter):
    """Batches of pictures that Python's augmenters change, from a file of records (path_imgrec, with path_imgidx to shuffle), or of files below
    path_root that a list names: path_imglist, a file as im2rec writes it, or imglist, [[label, path], ...]. Batches have data (batch_size,
    channels, height, width), float32, and labels (batch_size,), or (batch_size, label_width), of type dtype: float32, float64, int32 or
    int64. Records without an index come in the order of the file, with the labels of their headers, whatever a list says. Behind a record
    that cannot be decoded the next call goes on. strop.io.ImageRecordIter and ImageFolderIter are faster."""

    def __init__(self, batch_size, data_shape, label_width=1, path_imgrec=None, path_imglist=None, path_root=None, path_imgidx=None, shuffle=False, part_index=0,
                 num_parts=1, aug_list=None, imglist=None, data_name="data", label_name="softmax_label", dtype="float32", last_batch_handle="pad", **kwargs):
        super().__init__(batch_size)
        if not (path_imgrec or path_imglist or isinstance(imglist, list)):
            raise also(_strop.ValueError, AssertionError)("ImageIter: there is no path_imgrec, no path_imglist and no imglist")
        self.data_shape, self.label_width = self._checked_shape(data_shape), label_width
        if not isinstance(batch_size, integer_types) or batch_size < 1:
            raise _strop.ValueError(f"ImageIter: batch_size is {batch_size!r}, expected a whole number from 1 on")
        if last_batch_handle not in ("pad", "discard", "roll_over"):
            raise _strop.ValueError(f"ImageIter: last_batch_handle is {last_batch_handle!r}, expected pad, discard or roll_over")
        if _dtype_name(dtype) not in ("float32", "float64", "int32", "int64"):
            raise also(_strop.ValueError, AssertionError)(f"ImageIter: dtype is {_dtype_name(dtype)!r}, expected one of float32, float64, int32, int64: it is the type of labels")
        if not 0 <= part_index < num_parts:
            raise _strop.ValueError(f"ImageIter: part_index is {part_index} of num_parts {num_parts}, expected from 0 to below num_parts")
        self.imgrec, self.imglist, self.seq, self.path_root = None, None, None, path_root or ""
        if path_imglist:
            self.imglist = self._read_list(path_imglist)
        elif isinstance(imglist, list):
            self.imglist = {number: (np.array(one[:-1], np.float64).reshape(-1), one[-1]) for number, one in enumerate(imglist)}
        if path_imgrec and path_imgidx:
            self.imgrec = recordio.MXIndexedRecordIO(path_imgidx, path_imgrec, "r")
            self.seq = list(self.imgrec.keys)
        elif path_imgrec:
            self.imgrec = recordio.MXRecordIO(path_imgrec, "r")
        if self.imglist is not None and (self.imgrec is None or path_imgidx):
            self.seq = list(self.imglist)
        if self.seq is None and (shuffle or num_parts > 1):
            raise _strop.ValueError("ImageIter: shuffle and num_parts need path_imgidx, or a list of files")
        if self.seq is not None:
            self.seq = self.seq[len(self.seq) * part_index // num_parts:len(self.seq) * (part_index + 1) // num_parts]
        self.shuffle, self.dtype, self.last_batch_handle = shuffle, dtype, last_batch_handle
        self.auglist = CreateAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self.provide_data = [DataDesc(data_name, (batch_size, *self.data_shape))]
        self.provide_label = [DataDesc(label_name, (batch_size, label_width) if label_width > 1 else (batch_size,), dtype)]
        self._left = []  # examples that the epoch before, or a batch that failed, kept for the next batch
        self._first = None  # those of this epoch's beginning, which fill the last batch
        self.reset()

    @staticmethod
    def _checked_shape(shape):
        shape = tuple(shape)
        if len(shape) != 3 or shape[0] != 3:
            raise _strop.ValueError(f"ImageIter: data_shape is {shape}, expected (3, height, width)")
        return shape

    @staticmethod
    def _read_list(path):
        try:
            with open(path, encoding="utf-8") as lines:
                words = [line.rstrip("\n").split("\t") for line in lines if line.strip()]
            return {int(one[0]): (np.array(one[1:-1], np.float64), one[-1]) for one in words}
        except OSError as error:
            raise file_error(f"ImageIter: {path}: {error.strerror or error}", error) from error
        except ValueError as error:
            raise _strop.ValueError(f"ImageIter: {path}: {error}") from error

    def reset(self):
        """Begins the next epoch."""
        if self.seq is not None and self.shuffle:
            random.shuffle(self.seq)
        if self.imgrec is not None:
            self.imgrec.reset()
        if self.last_batch_handle != "roll_over":
            self._left = []
        self.cur, self._first, self._ended = 0, None, False
        self._named = "a picture"  # what next_sample() gave last: a file, or a record

    def hard_reset(self):
        """Begins anew, also with what was kept from the epoch before."""
        self._left = []
        self.reset()

    def next_sample(self):
        """(label, bytes) of the next picture; StopIteration behind the last one."""
        if self.seq is not None:
            if self.cur >= len(self.seq):
                raise StopIteration
            number = self.seq[self.cur]
            self.cur += 1
            if self.imgrec is not None:
                self._named = f"{self.imgrec.uri}, key {number}"
                header, held = self._unpacked(self.imgrec.read_idx(number))
                return (header.label if self.imglist is None else self.imglist[number][0]), held
            label, name = self.imglist[number]
            self._named = os.path.join(self.path_root, name)
            return label, self.read_image(name)
        held = self.imgrec.read()
        if held is None:
            raise StopIteration
        self._named = f"{self.imgrec.uri}, record {self.cur}"
        self.cur += 1
        header, held = self._unpacked(held)
        return header.label, held

    def _unpacked(self, record):
        try:
            return recordio.unpack(record)
        except _strop.Error as error:
            raise _strop.ValueError(f"ImageIter: {self._named}: {error}") from error

    def read_image(self, fname):
        """The bytes of a file below path_root."""
        path = os.path.join(self.path_root, fname)
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            raise file_error(f"ImageIter: {path}: {error.strerror or error}", error) from error

    def imdecode(self, s):
        """The picture of bytes."""
        return imdecode(s)

    def augmentation_transform(self, data):
        """The image, changed by each augmenter."""
        for one in self.auglist:
            data = one(data)
        return data

    def postprocess_data(self, datum):
        """(channels, height, width) of an image."""
        return nd.transpose(datum, axes=(2, 0, 1))

    def check_valid_image(self, data):
        """Refuses what has no pixels."""
        if not data[0].shape:
            raise _strop.ValueError("ImageIter: an image has no pixels")

    def _example(self):
        label, held = self.next_sample()
        try:
            image = self.imdecode(held)
        except _strop.Error as error:
            raise _strop.ValueError(f"ImageIter: {self._named}: {error}") from error
        image = self.augmentation_transform(image)
        self.check_valid_image([image])
        made = self.postprocess_data(image)
        if made.shape != self.data_shape:
            raise _strop.ValueError(f"ImageIter: the augmenters made an image of shape {made.shape}, data_shape is {self.data_shape}")
        label = np.asarray(label, np.float64).reshape(-1)
        if len(label) != self.label_width:
            raise _strop.ValueError(f"ImageIter: a label has {counted(len(label), 'number')}, label_width is {self.label_width}")
        return made.asnumpy(), label

    def next(self):
        """The next batch; StopIteration behind the last one."""
        if self._ended:
            raise StopIteration
        examples, self._left = self._left, []
        while len(examples) < self.batch_size:
            try:
                examples.append(self._example())
            except StopIteration:
                self._ended = True
                break
            except BaseException:
                self._left = examples
                raise
        if not examples or (self._ended and self.last_batch_handle == "discard" and len(examples) < self.batch_size):
            raise StopIteration
        if self._first is None:
            self._first = list(examples)
        pad = self.batch_size - len(examples)
        if pad and self.last_batch_handle == "roll_over":
            self._left = examples
            raise StopIteration
        examples += [self._first[k % len(self._first)] for k in range(pad)]
        labels = np.stack([label for _, label in examples])
        return DataBatch([nd.array(np.stack([image for image, _ in examples]), dtype=np.float32)],
                         [nd.array(labels if self.label_width > 1 else labels[:, 0], dtype=self.dtype)], pad)
