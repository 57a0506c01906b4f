# SPDX-License-Identifier: Apache-2.0
"""Modules: a symbol with its parameters, an optimizer and a loop over batches."""
from .base_module import BaseModule
from .bucketing_module import BucketingModule
from .module import Module

__all__ = ["BaseModule", "BucketingModule", "Module"]
