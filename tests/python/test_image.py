# SPDX-License-Identifier: Apache-2.0
"""Pictures: decoding, sizes, crops, augmenters, packed ones, and iterators over them."""
import ctypes.util
import json
import random

import numpy as np
import pytest

import strop as mx
from strop import nd

pytestmark = pytest.mark.skipif(not (ctypes.util.find_library("turbojpeg") and ctypes.util.find_library("png16")), reason="libturbojpeg0 and libpng16-16 are not there")


def drawn(height=12, width=16, seed=0):
    """A smooth picture, of which JPEG loses little."""
    y, x = np.mgrid[:height, :width]
    return np.stack([20 + 4 * x + seed, 30 + 5 * y, 200 - 3 * x + 2 * y], axis=2).astype(np.uint8)


def test_pictures_are_decoded_and_encoded(tmp_path):
    image = drawn()
    png, jpeg = mx.image.imencode(image, ".png"), mx.image.imencode(nd.array(image, dtype="uint8"), ".jpg", 95)
    for held in (png, bytearray(png), np.frombuffer(png, np.uint8), nd.array(np.frombuffer(png, np.uint8), dtype="uint8")):
        found = mx.image.imdecode(held)
        assert found.dtype is np.uint8 and (found.asnumpy() == image).all()
    assert (mx.image.imdecode(png, to_rgb=False).asnumpy() == image[:, :, ::-1]).all()
    assert mx.image.imdecode(png, flag=0).shape == (12, 16, 1)
    assert np.abs(mx.image.imdecode(jpeg).asnumpy().astype(int) - image).max() <= 12
    out = nd.zeros((12, 16, 3), dtype="uint8")
    assert mx.image.imdecode(png, out=out) is out and (out.asnumpy() == image).all()
    (tmp_path / "a.png").write_bytes(png)
    assert (mx.image.imread(tmp_path / "a.png").asnumpy() == image).all()
    with pytest.raises(FileNotFoundError, match="imread: .*nothing: No such file"):
        mx.image.imread(tmp_path / "nothing")
    (tmp_path / "b.png").write_bytes(b"no picture")
    for call, why in ((lambda: mx.image.imread(tmp_path / "b.png"), "imread: .*b.png: image::decode"), (lambda: mx.image.imdecode(b""), "buf has no bytes"),
                      (lambda: mx.image.imdecode(png[:50]), "image::decode"), (lambda: mx.image.imencode(image, ".gif"), "img_fmt"),
                      (lambda: mx.image.imencode(image[0]), "expected .height, width, channels")):
        with pytest.raises(ValueError, match=why):
            call()
    with pytest.raises(TypeError, match="imdecode: buf is of type int"):
        mx.image.imdecode(3)


def test_sizes_and_crops():
    image = nd.array(drawn(), dtype="uint8")
    for interp in range(5):
        assert mx.image.imresize(image, 8, 6, interp).shape == (6, 8, 3)
    for interp, (w, h), same in ((9, (32, 24), 2), (9, (8, 6), 3), (9, (8, 24), 1)):
        assert (mx.image.imresize(image, w, h, interp).asnumpy() == mx.image.imresize(image, w, h, same).asnumpy()).all()
    assert mx.image.imresize(image, 8, 6, 10).shape == (6, 8, 3)
    real = image.astype("float32")
    assert mx.image.imresize(real, 8, 6).dtype is np.float32
    with pytest.raises(ValueError, match="elements from"):
        mx.image.imresize(real - 100, 8, 6)
    assert mx.image.resize_short(image, 6).shape == (6, 8, 3) and mx.image.resize_short(nd.transpose(image, axes=(1, 0, 2)), 6).shape == (8, 6, 3)
    assert mx.image.scale_down((640, 480), (720, 120)) == (640, 106) and mx.image.scale_down((10, 20), (5, 5)) == (5, 5)
    assert (mx.image.fixed_crop(image, 2, 3, 4, 5).asnumpy() == drawn()[3:8, 2:6]).all()
    assert mx.image.fixed_crop(image, 2, 3, 4, 5, (8, 9)).shape == (9, 8, 3)
    found, where = mx.image.center_crop(image, (10, 6))
    assert where == (3, 3, 10, 6) and (found.asnumpy() == drawn()[3:9, 3:13]).all()
    found, where = mx.image.center_crop(image, (32, 24))
    assert where == (0, 0, 16, 12) and found.shape == (24, 32, 3)
    for _ in range(20):
        found, (x, y, w, h) = mx.image.random_crop(image, (7, 5))
        assert (w, h) == (7, 5) and (found.asnumpy() == drawn()[y:y + 5, x:x + 7]).all()
        found, (x, y, w, h) = mx.image.random_size_crop(image, (7, 5), (0.2, 1.0), (0.75, 1.33))
        assert found.shape == (5, 7, 3) and 0 <= x and 0 <= y and x + w <= 16 and y + h <= 12
    assert mx.image.color_normalize(real, nd.array([1, 2, 3]), nd.array([2, 2, 2])).asnumpy()[0, 0].tolist() == [9.5, 14, 98.5]
    with pytest.raises(ValueError):
        mx.image.fixed_crop(image, 10, 0, 10, 2)


def test_augmenters_change_what_they_say():
    image = nd.array(drawn(), dtype="uint8")
    made = mx.image.CreateAugmenter((3, 6, 8), resize=10, rand_crop=True, rand_mirror=True, mean=True, std=True, brightness=0.1, contrast=0.1, saturation=0.1, hue=0.1,
                                    pca_noise=0.1, rand_gray=0.5)
    names = [type(one).__name__ for one in made]
    assert names == ["ResizeAug", "RandomCropAug", "HorizontalFlipAug", "CastAug", "ColorJitterAug", "HueJitterAug", "LightingAug", "RandomGrayAug", "ColorNormalizeAug"]
    for _ in range(4):
        found = image
        for one in made:
            found = one(found)
        assert found.shape == (6, 8, 3) and found.dtype is np.float32 and np.isfinite(found.asnumpy()).all()
    assert all(json.loads(one.dumps())[0] == type(one).__name__.lower() for one in made if not isinstance(one, mx.image.SequentialAug))
    real = image.astype("float32")
    for one in (mx.image.BrightnessJitterAug(0), mx.image.ContrastJitterAug(0), mx.image.SaturationJitterAug(0), mx.image.LightingAug(0, np.ones(3), np.eye(3)), mx.image.HorizontalFlipAug(0)):
        np.testing.assert_allclose(one(real).asnumpy(), real.asnumpy(), atol=1e-3)
    np.testing.assert_allclose(mx.image.HueJitterAug(0)(real).asnumpy(), real.asnumpy(), atol=1)  # as rounded as the matrices
    gray = mx.image.RandomGrayAug(1)(real).asnumpy()
    np.testing.assert_allclose(gray, np.repeat((real.asnumpy() @ np.float32([0.21, 0.72, 0.07]))[:, :, None], 3, axis=2), rtol=1e-5)
    assert (mx.image.HorizontalFlipAug(1)(image).asnumpy() == drawn()[:, ::-1]).all()
    random.seed(3)
    bright = mx.image.BrightnessJitterAug(0.5)(real).asnumpy() / real.asnumpy()
    assert np.ptp(bright) < 1e-5 and 0.5 <= bright[0, 0, 0] <= 1.5
    assert mx.image.ForceResizeAug((5, 4))(image).shape == (4, 5, 3) and mx.image.CenterCropAug((5, 4))(image).shape == (4, 5, 3)
    for wrong in ({"rand_resize": True}, {"mean": [1, 2]}):
        with pytest.raises((ValueError, AssertionError)):
            mx.image.CreateAugmenter((3, 6, 8), **wrong)
    with pytest.raises(NotImplementedError):
        mx.image.Augmenter()(image)


def packed(folder, count=5):
    """A file of records, its index, its pictures in files, and a list of them."""
    paths = str(folder / "a.idx"), str(folder / "a.rec")
    writer = mx.recordio.MXIndexedRecordIO(*paths, "w")
    for k in range(count):
        writer.write_idx(k, mx.recordio.pack_img(mx.recordio.IRHeader(0, float(k), k, 0), drawn(seed=k)[:, :, ::-1], img_fmt=".png"))
        (folder / f"c{k % 2}").mkdir(exist_ok=True)
        (folder / f"c{k % 2}" / f"{k}.png").write_bytes(mx.image.imencode(drawn(seed=k), ".png"))
    writer.close()
    (folder / "a.lst").write_text("".join(f"{k}\t{k}.000000\tc{k % 2}/{k}.png\n" for k in range(count)))
    return paths


def test_packed_pictures(tmp_path):
    header, image = mx.recordio.unpack_img(mx.recordio.pack_img((0, [1, 2], 3, 0), drawn(), img_fmt=".png"))
    assert header.label.tolist() == [1, 2] and header.id == 3 and (image == drawn()).all()
    assert mx.recordio.unpack_img(mx.recordio.pack_img((0, 1, 3, 0), drawn()), iscolor=0)[1].shape == (12, 16)
    with pytest.raises(ValueError, match="pack_img: the image is float64"):
        mx.recordio.pack_img((0, 1, 3, 0), drawn().astype(float))
    index, records = packed(tmp_path)
    batches = mx.io.ImageRecordIter(path_imgrec=records, path_imgidx=index, data_shape=(3, 12, 16), batch_size=2)
    for _ in range(2):
        found = [(batch.label[0].asnumpy().tolist(), batch.pad, batch.data[0].asnumpy()) for batch in batches]
        np.testing.assert_array_equal(found[0][2][0], drawn().transpose(2, 0, 1))
        assert [batch[:2] for batch in found][0] == ([0, 1], 0)
        batches = mx.io.ImageRecordIter(path_imgrec=records, data_shape=(3, 12, 16), batch_size=2)
    classes = mx.io.ImageFolderIter(tmp_path, data_shape=(3, 12, 16), batch_size=5)
    assert next(classes).label[0].asnumpy().tolist() == [0, 0, 0, 1, 1]
    listed = mx.io.ImageFolderIter(tmp_path, tmp_path / "a.lst", data_shape=(3, 8, 8), batch_size=5, shuffle=True, seed=1, rand_crop=True, mean_r=1, scale=0.5)
    assert sorted(next(listed).label[0].asnumpy()) == [0, 1, 2, 3, 4]
    with pytest.raises(TypeError, match="no argument 'max_rotate_angle'"):
        mx.io.ImageRecordIter(path_imgrec=records, data_shape=(3, 12, 16), batch_size=2, max_rotate_angle=3)


@pytest.mark.parametrize("source", ["records", "index", "list", "pairs"])
def test_an_iterator_with_augmenters_of_ones_own(tmp_path, source):
    index, records = packed(tmp_path)
    pairs = [[k, f"c{k % 2}/{k}.png"] for k in range(5)]
    given = {"records": {"path_imgrec": records}, "index": {"path_imgrec": records, "path_imgidx": index},
             "list": {"path_imglist": str(tmp_path / "a.lst"), "path_root": str(tmp_path)}, "pairs": {"imglist": pairs, "path_root": str(tmp_path)}}[source]

    class Half(mx.image.Augmenter):
        def __call__(self, src):
            return src / 2

    def made(**more):
        return mx.image.ImageIter(2, (3, 12, 16), aug_list=[mx.image.CastAug(), Half()], **given, **more)

    batches = made()
    for _ in range(2):
        found = list(batches)
        assert [batch.pad for batch in found] == [0, 0, 1] and [batch.label[0].asnumpy().tolist() for batch in found] == [[0, 1], [2, 3], [4, 0]]
        np.testing.assert_array_equal(found[1].data[0].asnumpy()[0], drawn(seed=2).transpose(2, 0, 1) / 2)
        batches.reset()
    assert [len(list(made(last_batch_handle="discard")))] == [2]
    rolled = made(last_batch_handle="roll_over")
    assert len(list(rolled)) == 2
    rolled.reset()
    assert [batch.label[0].asnumpy().tolist() for batch in rolled] == [[4, 0], [1, 2], [3, 4]]
    if source != "records":
        shuffled = made(shuffle=True)
        assert sorted(x for batch in shuffled for x in batch.label[0].asnumpy()[:2 - batch.pad].tolist()) == [0, 1, 2, 3, 4]
        parts = [x for part in range(2) for batch in made(num_parts=2, part_index=part) for x in batch.label[0].asnumpy()[:2 - batch.pad].tolist()]
        assert sorted(parts) == [0, 1, 2, 3, 4]
    else:
        with pytest.raises(ValueError, match="shuffle and num_parts need"):
            made(shuffle=True)
    with pytest.raises(ValueError, match="made an image of shape"):
        next(mx.image.ImageIter(2, (3, 5, 5), aug_list=[], **given))
    for dtype in ("float32", "float64", "int32", np.int64):  # of labels alone
        typed = made(dtype=dtype)
        batch = next(typed)
        assert typed.provide_data[0].dtype is batch.data[0].dtype is np.float32 and batch.data[0].asnumpy()[0, 0, 0, 0] == 10
        assert np.dtype(typed.provide_label[0].dtype) == batch.label[0].dtype == np.dtype(dtype) and batch.label[0].asnumpy().tolist() == [0, 1]
    for dtype in ("uint8", "float16", "text"):
        with pytest.raises(ValueError, match=f"ImageIter: dtype is '{dtype}', expected one of float32, float64, int32, int64") as caught:
            made(dtype=dtype)
        assert isinstance(caught.value, AssertionError) and isinstance(caught.value, mx.Error)


def test_labels_that_float32_does_not_hold(tmp_path):
    packed(tmp_path)
    (tmp_path / "a.lst").write_text("0\t16777217\tc0/0.png\n")
    for given in ({"path_imglist": str(tmp_path / "a.lst")}, {"imglist": [[16777217, "c0/0.png"]]}):
        assert next(mx.image.ImageIter(1, (3, 12, 16), path_root=str(tmp_path), dtype="int64", **given)).label[0].asnumpy().tolist() == [16777217]


def test_records_in_order_with_a_list_beside_them(tmp_path):
    """Without an index nothing is looked up: the labels are those of the headers."""
    index, records = packed(tmp_path)
    (tmp_path / "other.lst").write_text("".join(f"{k}\t{9 - k}\tnothing.png\n" for k in reversed(range(5))))
    given = {"path_imgrec": records, "path_imglist": str(tmp_path / "other.lst")}
    assert [batch.label[0].asnumpy().tolist() for batch in mx.image.ImageIter(2, (3, 12, 16), **given)] == [[0, 1], [2, 3], [4, 0]]
    assert [batch.label[0].asnumpy().tolist() for batch in mx.image.ImageIter(2, (3, 12, 16), path_imgidx=index, **given)] == [[5, 6], [7, 8], [9, 5]]
    with pytest.raises(ValueError, match="shuffle and num_parts need path_imgidx"):
        mx.image.ImageIter(2, (3, 12, 16), shuffle=True, **given)


@pytest.mark.parametrize("source, called", [("records", "a.rec, record 3"), ("index", "a.rec, key 3"), ("list", "c1/3.png")])
@pytest.mark.parametrize("bad", [mx.recordio.pack((0, 3.0, 3, 0), b"no picture"), b"short"])
def test_a_bad_record_is_named_and_the_others_are_given(tmp_path, source, called, bad):
    index, records = packed(tmp_path)
    read = mx.recordio.MXIndexedRecordIO(index, records, "r")
    held = [bad if k == 3 else read.read_idx(k) for k in range(5)]
    read.close()
    writer = mx.recordio.MXIndexedRecordIO(index, records, "w")
    for k, record in enumerate(held):
        writer.write_idx(k, record)
    writer.close()
    (tmp_path / "c1" / "3.png").write_bytes(bad)
    given = {"records": {"path_imgrec": records}, "index": {"path_imgrec": records, "path_imgidx": index},
             "list": {"path_imglist": str(tmp_path / "a.lst"), "path_root": str(tmp_path)}}[source]
    batches = mx.image.ImageIter(2, (3, 12, 16), **given)
    for _ in range(2):
        assert next(batches).label[0].asnumpy().tolist() == [0, 1]
        with pytest.raises(ValueError, match=f"ImageIter: .*{called}: (image::decode|unpack)"):
            next(batches)
        batch = next(batches)
        assert (batch.label[0].asnumpy().tolist(), batch.pad) == ([2, 4], 0)
        np.testing.assert_array_equal(batch.data[0].asnumpy()[0], drawn(seed=2).transpose(2, 0, 1))
        with pytest.raises(StopIteration):
            next(batches)
        batches.reset()
    next(batches)
    with pytest.raises(ValueError):
        next(batches)
    batches.reset()  # what was kept is not given twice
    assert next(batches).label[0].asnumpy().tolist() == [0, 1]


def test_wrong_parameters_of_an_iterator(tmp_path):
    _, records = packed(tmp_path)
    for wrong, why in (({"data_shape": (1, 2, 2)}, "data_shape is"), ({"batch_size": 0}, "batch_size is 0"), ({"last_batch_handle": "keep"}, "last_batch_handle is"),
                       ({"part_index": 1}, "part_index is"), ({"label_width": 2}, "label has 1 number, label_width is 2")):
        with pytest.raises(ValueError, match=why):
            next(mx.image.ImageIter(**{"batch_size": 2, "data_shape": (3, 5, 5), "path_imgrec": records, **wrong}))
    with pytest.raises(ValueError, match="there is no path_imgrec"):
        mx.image.ImageIter(2, (3, 5, 5))
    with pytest.raises(FileNotFoundError):
        next(mx.image.ImageIter(1, (3, 5, 5), imglist=[[1, "nothing.png"]], path_root=str(tmp_path)))
