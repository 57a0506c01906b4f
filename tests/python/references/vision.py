# SPDX-License-Identifier: Apache-2.0
"""Operators on images, on regions of them and on boxes."""
import numpy as np

from . import EXACT, FLOATS, case, given, of

IMAGE = of(2, 3, 4, 5)
LAYER = {"types": FLOATS}


# --- images ---------------------------------------------------------------------------------------------------------
case("_image_to_tensor", lambda x: x.transpose(2, 0, 1) / 255, of(2, 4, 3, low=0, high=100))
case("_image_normalize", lambda x: (x - np.array([1, 2, 3])[:, None, None]) / np.array([0.5, 1, 2])[:, None, None], of(3, 2, 4, low=3, high=9), mean=(1, 2, 3), std=(0.5, 1, 2))


def adapted(x, rows, columns):
    def parts(n, count):
        return [slice(i * n // count, -(-(i + 1) * n // count)) for i in range(count)]
    return np.array([[[[plane[a, b].mean() for b in parts(x.shape[3], columns)] for a in parts(x.shape[2], rows)] for plane in one] for one in x])


case("_contrib_AdaptiveAvgPooling2D", lambda x: adapted(x, 3, 2), IMAGE, output_size=(3, 2), **LAYER)


def between(plane, y, x):
    """What lies at a position: linear between the four elements around it, of which those that are not there are 0."""
    total, (rows, columns) = 0.0, plane.shape
    for row, share in ((int(np.floor(y)), 1 - y + np.floor(y)), (int(np.floor(y)) + 1, y - np.floor(y))):
        for column, other in ((int(np.floor(x)), 1 - x + np.floor(x)), (int(np.floor(x)) + 1, x - np.floor(x))):
            total += share * other * plane[row, column] if 0 <= row < rows and 0 <= column < columns else 0
    return total


def clamped(plane, y, x):
    """The same, where the elements at the border go on."""
    return between(plane, min(max(y, 0), plane.shape[0] - 1), min(max(x, 0), plane.shape[1] - 1))


def resized(x, rows, columns, ends):
    def at(i, n, count):
        return i * (n - 1) / (count - 1) if ends else (i + 0.5) * n / count - 0.5
    return np.array([[[[clamped(plane, at(i, x.shape[2], rows), at(j, x.shape[3], columns)) for j in range(columns)] for i in range(rows)] for plane in one] for one in x])


for ends in (True, False):
    case("_contrib_BilinearResize2D", lambda x, e=ends: resized(x, 7, 3, e), IMAGE, height=7, width=3, align_corners=ends, **LAYER)


def grid(matrices, rows, columns):
    y, x = np.meshgrid(np.linspace(-1, 1, rows), np.linspace(-1, 1, columns), indexing="ij")
    return np.einsum("nij,jrc->nirc", matrices.reshape(-1, 2, 3), np.stack([x, y, np.ones_like(x)]))


def taken(images, positions):
    rows, columns = images.shape[2:]
    return np.array([[[[between(plane, (y + 1) * (rows - 1) / 2, (x + 1) * (columns - 1) / 2) for x, y in zip(*line)] for line in zip(*where)] for plane in one]
                     for one, where in zip(images, positions)])


def warped(flow):
    rows, columns = flow.shape[2:]
    y, x = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    return np.stack([(flow[:, 0] + x) * 2 / (columns - 1) - 1, (flow[:, 1] + y) * 2 / (rows - 1) - 1], 1)


MATRICES = of(2, 6, low=-0.6, high=0.6)
case("GridGenerator", lambda m: grid(m, 3, 4), MATRICES, transform_type="affine", target_shape=(3, 4), **LAYER)
case("GridGenerator", warped, of(2, 2, 3, 4, low=-1, high=1), transform_type="warp", **LAYER)
case("BilinearSampler", taken, IMAGE, of(2, 2, 2, 3, low=-1.4, high=1.4), types=EXACT)
case("SpatialTransformer", lambda x, m: taken(x, grid(m, 3, 2)), IMAGE, MATRICES, types=EXACT, transform_type="affine", sampler_type="bilinear", target_shape=(3, 2))


def correlated(a, b, kernel, most, step1, step2, pad, product):
    a, b = (np.pad(one, ((0, 0), (0, 0), (pad, pad), (pad, pad))) for one in (a, b))
    border, reach = most + (kernel - 1) // 2, most // step2
    rows, columns = (-(-(n - 2 * border) // step1) for n in a.shape[2:])
    made = np.zeros((len(a), (2 * reach + 1)**2, rows, columns))
    moves = [(dy * step2, dx * step2) for dy in range(-reach, reach + 1) for dx in range(-reach, reach + 1)]
    for n, d, i, j in np.ndindex(*made.shape):
        y, x = most + i * step1, most + j * step1
        one, other = a[n, :, y:y + kernel, x:x + kernel], b[n, :, y + moves[d][0]:y + moves[d][0] + kernel, x + moves[d][1]:x + moves[d][1] + kernel]
        made[n, d, i, j] = (one * other if product else np.abs(one - other)).mean()
    return made


case("Correlation", lambda a, b: correlated(a, b, 1, 1, 1, 1, 1, True), IMAGE, IMAGE, pad_size=1, **LAYER)
case("Correlation", lambda a, b: correlated(a, b, 3, 2, 2, 2, 3, False), IMAGE, IMAGE, kernel_size=3, max_displacement=2, stride1=2, stride2=2, pad_size=3, is_multiply=False, **LAYER)


# --- regions --------------------------------------------------------------------------------------------------------
REGIONS = given([[0, 0.25, 0.25, 2.75, 2.25], [1, 1, 0, 3.25, 1], [0, 2, 1, 2.25, 2.25]])


def regions(formula, x, rois, channels, rows, columns):
    return np.array([[[[formula(x[int(roi[0])], roi, c, i, j) for j in range(columns)] for i in range(rows)] for c in range(channels)] for roi in rois])


def pooled(image, roi, c, i, j):
    left, top, right, bottom = np.floor(roi[1:] + 0.5).astype(int)
    parts = []
    for begin, end, k, n in ((top, bottom, i, image.shape[1]), (left, right, j, image.shape[2])):
        step = max(end - begin + 1, 1) / 2
        parts.append(slice(*np.clip([int(np.floor(k * step)) + begin, int(np.ceil((k + 1) * step)) + begin], 0, n)))
    part = image[c][tuple(parts)]
    return part.max() if part.size else 0


def outside(plane, y, x):
    return not (-1 <= y <= plane.shape[0] and -1 <= x <= plane.shape[1])


def aligned(image, roi, c, i, j):
    left, top, right, bottom = roi[1:] * 0.5
    height, width = max(bottom - top, 1) / 2, max(right - left, 1) / 2
    spots = [(top + (i + (a + 0.5) / 2) * height, left + (j + (b + 0.5) / 2) * width) for a in range(2) for b in range(2)]
    return np.mean([0 if outside(image[c], *spot) else clamped(image[c], *spot) for spot in spots])


def turned(image, roi, c, i, j):
    x, y, width, height = roi[1:5]
    angle, height, width = np.radians(roi[5]), max(height, 1), max(width, 1)
    spots = []
    for a, b in np.ndindex(2, 2):
        down, along = -height / 2 + (i + (a + 0.5) / 2) * height / 2, -width / 2 + (j + (b + 0.5) / 2) * width / 2
        spots.append((down * np.cos(angle) - along * np.sin(angle) + y, along * np.cos(angle) + down * np.sin(angle) + x))
    return np.mean([0 if outside(image[c], *spot) else clamped(image[c], *spot) for spot in spots])


def sensitive(image, roi, c, i, j):
    left, top = np.floor(roi[1:3] + 0.5)
    right, bottom = np.floor(roi[3:] + 0.5) + 1
    parts = []
    for begin, end, k, n in ((top, bottom, i, image.shape[1]), (left, right, j, image.shape[2])):
        step = max(end - begin, 0.1) / 2
        parts.append(slice(*np.clip([int(np.floor(k * step + begin)), int(np.ceil((k + 1) * step + begin))], 0, n)))
    part = image[(c * 2 + i) * 2 + j][tuple(parts)]
    return part.mean() if part.size else 0


case("ROIPooling", lambda x, r: regions(pooled, x, r, 3, 2, 2), IMAGE, REGIONS, pooled_size=(2, 2), spatial_scale=1, **LAYER)
case("_contrib_ROIAlign", lambda x, r: regions(aligned, x, r, 3, 2, 2), IMAGE, REGIONS, pooled_size=(2, 2), spatial_scale=0.5, sample_ratio=2, **LAYER)
case("_contrib_RROIAlign", lambda x, r: regions(turned, x, r, 3, 2, 2), IMAGE, given([[0, 1.5, 1.25, 2, 1.5, 30], [1, 2, 1, 1.25, 2.5, -60]]), types=EXACT, pooled_size=(2, 2), spatial_scale=1,
     sampling_ratio=2)
case("_contrib_PSROIPooling", lambda x, r: regions(sensitive, x, r, 2, 2, 2), of(2, 8, 4, 5), REGIONS, spatial_scale=1, output_dim=2, pooled_size=2, **LAYER)


# --- boxes ----------------------------------------------------------------------------------------------------------
def overlap(a, b, whole=0.0):
    """The area that two boxes share over that which they cover; `whole` is 1 of boxes of pixels."""
    shared = np.prod([max(min(a[k + 2], b[k + 2]) - max(a[k], b[k]) + whole, 0) for k in (0, 1)])
    covered = sum((box[2] - box[0] + whole) * (box[3] - box[1] + whole) for box in (a, b)) - shared
    return shared / covered if covered > 0 else 0


def centred(box):
    left, top, right, bottom = box
    return (left + right) / 2, (top + bottom) / 2, right - left, bottom - top


def seen_from(anchor, box):
    """Where a box lies in extents of an anchor."""
    (ax, ay, aw, ah), (x, y, w, h) = centred(anchor), centred(box)
    return np.array([(x - ax) / aw, (y - ay) / ah, np.log(w / aw), np.log(h / ah)])


def placed(anchor, where):
    """The box that lies there."""
    x, y, w, h = centred(anchor)
    x, y, w, h = where[0] * w + x, where[1] * h + y, np.exp(where[2]) * w, np.exp(where[3]) * h
    return np.array([x - w / 2, y - h / 2, x + w / 2, y + h / 2])


case("_contrib_box_iou", lambda a, b: np.array([[overlap(one, other) for other in b] for one in a]), given([[0, 0, 2, 2], [1, 1, 3, 4]]), given([[0, 0, 1, 1], [1, 1, 2, 3]]), **LAYER)


def suppressed(rows):
    kept = []
    for row in sorted((row for row in rows if row[1] > 0.25), key=lambda row: -row[1]):
        if all(overlap(row[2:], other[2:]) <= 0.5 for other in kept):
            kept.append(row)
    return np.array(kept + [[-1] * 6] * (len(rows) - len(kept)))


BOXES = given([[0, 0.5, 1, 1, 3, 3], [1, 0.75, 1, 1, 3, 4], [0, 0.25, 5, 5, 7, 7], [0, 1, 9, 9, 10, 10], [1, 0.375, 5, 5, 7, 6]])
case("_contrib_box_nms", suppressed, BOXES, valid_thresh=0.25, overlap_thresh=0.5, **LAYER)
ANCHORS = given([[[0, 0, 0.5, 0.5], [0.25, 0.25, 0.75, 1], [0.5, 0, 1, 0.5]]])


def encoded(samples, matches, anchors, refs, means, stds):
    made, mask = np.zeros((1, 3, 4)), np.repeat((samples > 0.5).astype(float)[..., None], 4, 2)
    for k in np.flatnonzero(samples[0] > 0.5):
        made[0, k] = (seen_from(anchors[0, k], refs[0, int(matches[0, k])]) - means) / stds
    return [made, mask]


case("_contrib_box_encode", encoded, given([[1, 0, 1]]), given([[1, 0, 0]]), ANCHORS, given([[[0.5, 0.25, 1, 0.5], [0, 0, 1, 0.25]]]), given([0, 0.5, 0.25, -0.25]), given([0.5, 0.5, 0.25, 0.25]), **LAYER)
case("_contrib_box_decode", lambda x, a: np.array([[placed(anchor, where * [0.5, 0.5, 0.25, 0.25]) for anchor, where in zip(a[0], one)] for one in x]), of(2, 3, 4, low=-0.9, high=0.9), ANCHORS,
     std0=0.5, std1=0.5, std2=0.25, std3=0.25, format="corner", **LAYER)


def matched(scores, least):
    rows, columns = np.full(scores.shape[0], -1), np.full(scores.shape[1], -1)
    for at in np.argsort(-scores.ravel(), kind="stable"):
        i, j = divmod(at, scores.shape[1])
        if scores[i, j] >= least and rows[i] < 0 and columns[j] < 0:
            rows[i], columns[j] = j, i
    return [rows, columns]


case("_contrib_bipartite_matching", lambda s: matched(s, 0.125), given([[0.5, 0.6, 0.1], [0.1, 0.2, 0.3]]), threshold=0.125, **LAYER)


def priors(rows, columns):
    boxes = [(0.5, 1), (0.25, 1), (0.5, 4)]
    made = []
    for i, j, (size, ratio) in [(i, j, box) for i in range(rows) for j in range(columns) for box in boxes]:
        x, y, w, h = (j + 0.5) / columns, (i + 0.5) / rows, size * rows / columns * ratio**0.5 / 2, size / ratio**0.5 / 2
        made.append([x - w, y - h, x + w, y + h])
    return np.array([made])


case("_contrib_MultiBoxPrior", lambda x: priors(2, 3), of(1, 2, 2, 3), sizes=(0.5, 0.25), ratios=(1, 4), **LAYER)
VARIANCES = [0.1, 0.1, 0.2, 0.2]


def detected(scores, shifts, anchors):
    made = []
    for probabilities, where in zip(scores, shifts.reshape(len(scores), -1, 4)):
        classes, best = probabilities[1:].argmax(0), probabilities[1:].max(0)
        rows = [[classes[k], best[k], *np.clip(placed(anchors[0, k], where[k] * VARIANCES), 0, 1)] for k in np.argsort(-best, kind="stable") if best[k] >= 0.01]
        for k, row in enumerate(rows):
            if any(other[0] == row[0] >= 0 and overlap(row[2:], other[2:]) >= 0.25 for other in rows[:k]):
                row[0] = -1
        made.append(rows + [[-1] * 6] * (anchors.shape[1] - len(rows)))
    return np.array(made)


case("_contrib_MultiBoxDetection", detected, given([[[0.25, 0.125, 0.5], [0.5, 0.125, 0.25], [0.25, 0.75, 0.375]]]), given([[0, 0.5, 0.25, 0, 1, 0, -0.5, 0.25, -1, 0.25, 0, 0.5]]), ANCHORS,
     types=EXACT, nms_threshold=0.25)


def learnt(anchors, labels, predictions):
    where, mask, classes = [], [], []
    for rows in labels:
        objects = [row for row in rows if row[0] >= 0]
        shares = np.array([[overlap(anchor, row[1:]) for row in objects] for anchor in anchors[0]])
        owner = [int(j) for j in matched(shares, 1e-6)[0]]  # each object has the anchor that it overlaps most
        owner = [int(share.argmax()) if j < 0 and share.max() > 0.25 else j for j, share in zip(owner, shares)]
        where.append(np.concatenate([seen_from(a, objects[j][1:]) / VARIANCES if j >= 0 else np.zeros(4) for a, j in zip(anchors[0], owner)]))
        mask.append(np.repeat([float(j >= 0) for j in owner], 4))
        classes.append([objects[j][0] + 1 if j >= 0 else 0 for j in owner])
    return [np.array(where), np.array(mask), np.array(classes)]


case("_contrib_MultiBoxTarget", learnt, ANCHORS, given([[[1, 0.25, 0, 1, 0.5], [-1, -1, -1, -1, -1]], [[0, 0, 0, 0.5, 0.5], [2, 0.25, 0.125, 1, 1]]]), of(2, 3, 3), types=EXACT, overlap_threshold=0.25)


def proposed(scores, moves, about):
    made = []
    for n, (one, move, (rows, columns, scale)) in enumerate(zip(scores, moves, about)):
        boxes = []
        for i, j, a in np.ndindex(2, 3, 2):
            ratio = (0.5, 2)[a]  # around a cell of 8 x 8 pixels
            width = np.floor(np.sqrt(np.floor(64 / ratio)) + 0.5)
            height = np.floor(width * ratio + 0.5)
            x, y = 3.5 + 8 * j, 3.5 + 8 * i
            shift = move[4 * a:4 * a + 4, i, j]
            x, y, w, h = shift[0] * width + x, shift[1] * height + y, np.exp(shift[2]) * width, np.exp(shift[3]) * height
            box = np.array([x - (w - 1) / 2, y - (h - 1) / 2, x + (w - 1) / 2, y + (h - 1) / 2])
            box = np.clip(box, 0, [columns - 1, rows - 1, columns - 1, rows - 1])
            score = one[2 + a, i, j]
            if box[2] - box[0] + 1 < 2 * scale or box[3] - box[1] + 1 < 2 * scale or i >= rows // 8 or j >= columns // 8:
                score = -1
            boxes.append((score, box))
        kept = []
        for score, box in sorted(boxes, key=lambda pair: -pair[0]):
            if all(overlap(box, other[1], 1) <= 0.5 for other in kept):
                kept.append((score, box))
        made += [(n, *kept[k % len(kept)]) for k in range(5)]
    return [np.array([[n, *box] for n, _, box in made]), np.array([[score] for _, score, _ in made])]


for name, count in (("_contrib_Proposal", 1), ("_contrib_MultiProposal", 2)):
    case(name, proposed, of(count, 4, 2, 3), of(count, 8, 2, 3, low=-0.2, high=0.2), given([[16, 24, 1], [16, 24, 1]][:count]), types=EXACT, scales=(1,), ratios=(0.5, 2), feature_stride=8,
         rpn_min_size=2, rpn_post_nms_top_n=5, threshold=0.5, output_score=True)
