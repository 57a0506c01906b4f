# SPDX-License-Identifier: Apache-2.0
"""Operators on images."""
from .table import family, of

images = family("images")
for size, (n, c, h, w) in {"small": (1, 3, 64, 64), "large": (16, 3, 224, 224)}.items():
    images("_image_to_tensor", of(n, h, w, c, low=0, high=256, dtype="u8"), what=size, torch="(a.permute(0, 3, 1, 2) / 255).contiguous()")
    images("_image_normalize", of(n, c, h, w, low=0), what=size, torch="(a - mean) / deviation", mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225),
           ready={"mean": "torch.tensor([0.485, 0.456, 0.406]).reshape(3, 1, 1)", "deviation": "torch.tensor([0.229, 0.224, 0.225]).reshape(3, 1, 1)"})
    images("BilinearSampler", of(n, c, h, w), of(n, 2, h, w), what=size, torch="F.grid_sample(a, b.permute(0, 2, 3, 1), align_corners=True)", grads=(0, 1))
    images("GridGenerator", of(n, 6), what=f"affine, {size}", torch=f"F.affine_grid(a.reshape(-1, 2, 3), ({n}, 1, {h}, {w}), align_corners=True).permute(0, 3, 1, 2)", grads=(0,), transform_type="affine",
           target_shape=(h, w))
    images("SpatialTransformer", of(n, c, h, w), of(n, 6), what=size, torch=f"F.grid_sample(a, F.affine_grid(b.reshape(-1, 2, 3), ({n}, 1, {h}, {w}), align_corners=True), align_corners=True)", grads=(0, 1),
           transform_type="affine", sampler_type="bilinear", target_shape=(h, w))
for size, (n, c, h, w) in {"small": (1, 16, 14, 14), "large": (8, 64, 56, 56)}.items():
    images("UpSampling", of(n, c, h, w), what=f"nearest, {size}", torch="F.interpolate(a, scale_factor=2)", grads=(0,), scale=2, sample_type="nearest", num_args=1)
    for corners in (True, False):
        images("_contrib_BilinearResize2D", of(n, c, h, w), what=f"{'corners' if corners else 'centres'}, {size}", grads=(0,), height=2 * h, width=2 * w, align_corners=corners,
               torch=f"F.interpolate(a, size=({2 * h}, {2 * w}), mode='bilinear', align_corners={corners})")
