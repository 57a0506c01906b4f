# SPDX-License-Identifier: Apache-2.0
"""What the functions and members that are written in Python take and give, for stubs: operators say it themselves."""

# Of parameters, by their names, whatever the function.
PARAMETERS = {"shape": "_Extents", "ctx": "Context | None", "fname": "str | os.PathLike[str]", "prefix": "str", "keepdims": "bool", "is_train": "bool",
              "train_mode": "bool", "retain_graph": "bool | None", "create_graph": "bool", "stype": "str | None", "batch_size": "int", "epoch": "int"}

# Of results, by module and name; of a class's members, by class and name. What is not here is Any.
_ARRAY, _ARRAYS, _SYMBOL = "NDArray", "list[NDArray]", "Symbol"
_NAMED = "dict[str, NDArray]"
RESULTS = {
    **{f"ndarray.ndarray.{name}": _ARRAY for name in (
        "array", "arange", "concatenate", "empty", "eye", "fill_element_0index", "from_dlpack", "from_numpy", "full", "linspace", "moveaxis", "ones",
        "onehot_encode", "zeros")},
    **{f"ndarray.arithmetic.{name}": _ARRAY for name in (
        "add", "divide", "equal", "greater", "greater_equal", "lesser", "lesser_equal", "logical_and", "logical_or", "logical_xor", "maximum", "minimum",
        "modulo", "multiply", "not_equal", "power", "subtract", "true_divide")},
    **{f"ndarray.sparse_array.{name}": _ARRAY for name in ("add", "array", "divide", "empty", "multiply", "subtract", "zeros")},
    **{f"ndarray.control.{name}": _ARRAY for name in ("boolean_mask", "isfinite", "isinf", "isnan")},
    "ndarray.ndarray.split_v2": _ARRAYS, "ndarray.ndarray.histogram": _ARRAYS, "ndarray.ndarray.load": "_Loaded", "ndarray.ndarray.load_frombuffer": "_Loaded",
    "ndarray.ndarray.save": "None", "ndarray.ndarray.waitall": "None", "load": "_Loaded",
    "ndarray.sparse_array.csr_matrix": "CSRNDArray", "ndarray.sparse_array.from_scipy": "CSRNDArray", "ndarray.sparse_array.row_sparse_array": "RowSparseNDArray",
    "operator.Custom": "NDArray | list[NDArray] | Symbol",
    **{f"symbol.symbol.{name}": _SYMBOL for name in (
        "Group", "Variable", "arange", "equal", "eye", "full", "greater", "greater_equal", "histogram", "hypot", "lesser", "lesser_equal", "linspace", "load",
        "load_json", "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "not_equal", "ones", "pow", "power", "split_v2", "var", "zeros")},
    **{f"autograd.{name}": "contextlib.AbstractContextManager[Any]" for name in ("pause", "predict_mode", "record", "train_mode")},
    "autograd.backward": "None", "autograd.grad": _ARRAYS, "autograd.get_symbol": _SYMBOL, "autograd.mark_variables": "None",
    **{f"context.{name}": "Context" for name in ("cpu", "cpu_pinned", "current_context", "gpu", "of_device")}, "context.num_gpus": "int",
    "model.load_checkpoint": f"tuple[Symbol, {_NAMED}, {_NAMED}]", "model.load_params": f"tuple[{_NAMED}, {_NAMED}]", "model.save_checkpoint": "None",
    "model.named_params": _NAMED, "model.params_by_kind": f"tuple[{_NAMED}, {_NAMED}]", "kvstore.create": "KVStore",
    "rnn.rnn.load_rnn_checkpoint": f"tuple[Symbol, {_NAMED}, {_NAMED}]", "rnn.rnn.save_rnn_checkpoint": "None",
    "ndarray.random.multinomial": "Any", "ndarray.random.seed": "None", "random.seed": "None", "library.get_include": "str", "library.load_library": "list[str]", "info": "dict[str, Any]", "set_fallback": "str",
    "fallbacks": "list[tuple[str, str, str, int]]", "clear_fallbacks": "None", "util.is_np_shape": "bool", "util.is_np_array": "bool",
    "engine.trace": "contextlib.AbstractContextManager[None]", "metric.create": "EvalMetric", "recordio.unpack": "tuple[IRHeader, bytes]", "recordio.pack": "bytes",
}
# Where a module's functions give one kind of result.
OF_MODULES = {"ndarray.random": _ARRAY, "symbol.random": _SYMBOL}
# Methods that programs write anew, with whatever arguments theirs have.
WRITTEN_ANEW = {"Function": ("forward", "backward"), "PythonOp": ("forward", "backward"), "CustomOpProp": ("create_operator",)}
MEMBERS = {
    "NDArray": {
        **dict.fromkeys(("T", "handle", "grad"), _ARRAY), "shape": "tuple[int, ...]", **dict.fromkeys(("ndim", "size", "itemsize"), "int"),
        **dict.fromkeys(("context", "ctx", "device"), "Context"), "stype": "str", "writable": "bool", "asnumpy": "numpy.ndarray[Any, Any]",
        **dict.fromkeys(("all", "any", "as_in_context", "as_in_ctx", "as_nd_ndarray", "astype", "broadcast_to", "copy", "copyto", "detach", "expand_dims", "flatten",
                         "reshape", "slice_assign", "slice_assign_scalar", "squeeze", "to_device", "tostype", "transpose"), _ARRAY),
        "split_v2": _ARRAYS, **dict.fromkeys(("attach_grad", "backward", "wait_to_read"), "None"), "tolist": "list[Any]", "__iter__": "Iterator[NDArray]",
        "__array__": "numpy.ndarray[Any, Any]", "__dlpack_device__": "tuple[int, int]", "__format__": "str"},
    "BaseSparseNDArray": {"data": _ARRAY, "indices": _ARRAY, "check_format": "None", "asscipy": "Any"},
    "CSRNDArray": {"indptr": _ARRAY},
    "Symbol": {
        "name": "str", "num_outputs": "int", **dict.fromkeys(("astype", "get_internals", "reshape", "split_v2", "as_nd_ndarray"), _SYMBOL),
        "get_children": "Symbol | None", **dict.fromkeys(("list_arguments", "list_auxiliary_states", "list_inputs", "list_outputs"), "list[str]"),
        "attr": "str | None", "list_attr": "dict[str, str]", "attr_dict": "dict[str, dict[str, str]]", "bind": "Executor", "simple_bind": "Executor",
        "eval": _ARRAYS, "save": "None", "tojson": "str", "debug_str": "str", "__call__": _SYMBOL, "__iter__": "Iterator[Symbol]",
        **dict.fromkeys(("infer_shape", "infer_shape_partial", "infer_type", "infer_type_partial", "infer_storage_type"), "tuple[Any, Any, Any]")},
    "Executor": {
        "forward": _ARRAYS, **dict.fromkeys(("arg_arrays", "aux_arrays", "grad_arrays", "outputs"), _ARRAYS),
        **dict.fromkeys(("arg_dict", "aux_dict", "grad_dict", "output_dict"), _NAMED), "reshape": "Executor", "debug_str": "str",
        **dict.fromkeys(("backward", "copy_params_from", "set_monitor_callback"), "None")},
    "CachedOp": {"__call__": "Any"},
    "Function": {"saved_tensors": "tuple[NDArray, ...]"},
    "Context": {"device_type": "str", "device_id": "int", "device_typeid": "int"},
    "DataBatch": {"data": _ARRAYS, "label": _ARRAYS, "pad": "int"},
    "DataDesc": {"name": "str", "shape": "tuple[int, ...]"},
    **dict.fromkeys(("DataIter", "_BatchesOfOthers", "NDArrayIter", "_OfRegistry", "ResizeIter", "PrefetchingIter"), {
        "next": "DataBatch", "__next__": "DataBatch", "__iter__": "Iterator[DataBatch]", "iter_next": "bool", "reset": "None", "hard_reset": "None",
        "batch_size": "int", "getpad": "int", "provide_data": "list[DataDesc]", "provide_label": "list[DataDesc]"}),
    "EvalMetric": {"reset": "None", "update": "None", "get": "tuple[Any, Any]", "get_name_value": "list[tuple[str, float]]"},
    "Initializer": {"dumps": "str"},
    "KVStore": {"type": "str", "rank": "int", "num_workers": "int", "is_capable": "bool", **dict.fromkeys((
        "init", "push", "pull", "pushpull", "broadcast", "row_sparse_pull", "set_gradient_compression", "set_optimizer", "save_optimizer_states",
        "load_optimizer_states"), "None")},
    "BaseModule": {
        "symbol": _SYMBOL, "get_params": f"tuple[{_NAMED}, {_NAMED}]", "score": "list[tuple[str, float]]",
        **dict.fromkeys(("data_names", "label_names", "output_names"), "list[str]"), "data_shapes": "list[DataDesc]", "label_shapes": "list[DataDesc] | None",
        "output_shapes": "list[tuple[str, tuple[int, ...]]]", **dict.fromkeys(("get_outputs", "get_input_grads", "get_states"), "list[Any]"),
        "iter_predict": "Iterator[tuple[list[NDArray], int, DataBatch]]",
        **dict.fromkeys(("backward", "bind", "borrow_optimizer", "fit", "forward", "forward_backward", "init_optimizer", "init_params", "install_monitor",
                         "load_optimizer_states", "load_params", "prepare", "reshape", "save_checkpoint", "save_optimizer_states", "save_params", "set_params",
                         "set_states", "switch_bucket", "update", "update_metric"), "None")},
    "Module": {"load": "Module"}, "BucketingModule": {"load": "BucketingModule", "load_dict": "BucketingModule"},
    "MXRecordIO": {"read": "bytes | None", "write": "None", "close": "None", "reset": "None", "open": "None"},
    "MXIndexedRecordIO": {"read_idx": "bytes", "write_idx": "None", "seek": "None", "tell": "int"},
}
# Methods that Python calls, of every class: their parameters behind self, and what they give.
_SAME = "Self"
SPECIAL = {
    **{f"__{side}{name}__": ("other: Any", _SAME) for name in ("add", "and", "floordiv", "matmul", "mod", "mul", "or", "pow", "sub", "truediv", "xor") for side in ("", "r", "i")},
    **{f"__{name}__": ("other: Any", _SAME) for name in ("ge", "gt", "le", "lt")}, **{f"__{name}__": ("other: object", _SAME) for name in ("eq", "ne")},
    **{f"__{name}__": ("", _SAME) for name in ("abs", "neg", "invert", "copy")}, "__deepcopy__": ("memo: Any", _SAME), "__round__": ("digits: int = 0", _SAME),
    "__getitem__": ("key: Any", _SAME), "__setitem__": ("key: Any, value: Any", "None"), "__delitem__": ("key: Any", "None"), "__bool__": ("", "bool"),
    "__float__": ("", "float"), "__int__": ("", "int"), "__index__": ("", "int"), "__len__": ("", "int"),
}
