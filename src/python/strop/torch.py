# SPDX-License-Identifier: Apache-2.0
"""Operators of strop as operators of PyTorch: `import strop.torch`, then `torch.ops.strop.smooth_l1(x, scalar=2.0)`.

Operators of the registry, and of libraries that are loaded before or after, take tensors of the CPU and give tensors that
PyTorch's allocator made; inputs that are contiguous are used where they lie. Operators are differentiated twice, compiled by
torch.compile and checked by torch.library.opcheck. docs/pytorch.md says which are left out, and why.
"""
import atexit
import functools

try:
    import torch
    from torch._functorch.autograd_function import custom_function_call_vmap_helper, enable_single_level_autograd_function
    from torch._functorch.pyfunctorch import retrieve_current_functorch_interpreter
    from torch.autograd import forward_ad
    from torch.autograd.function import _SingleLevelFunction
    from torch.utils._pytree import tree_leaves, tree_map
except ImportError as error:
    raise ImportError(f"strop.torch needs PyTorch: {error}") from error

from . import _strop
from . import ndarray as _nd

__all__ = ["left_out", "refresh"]

_OLDEST = (2, 9)
if tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2]) < _OLDEST:
    raise ImportError(f"strop.torch needs PyTorch 2.9 or newer, this is {torch.__version__}")

_NUMBERS = {torch.float32: 0, torch.float64: 1, torch.float16: 2, torch.uint8: 3, torch.int32: 4, torch.int8: 5, torch.int64: 6,
            torch.bool: 7, torch.bfloat16: 12}
_TYPES = {number: dtype for dtype, number in _NUMBERS.items()}
_Error = _strop.Error  # which outlives _end()
_TAGS = (torch.Tag.pt2_compliant_tag,)


def _failing(function):
    """A kernel whose refusals are RuntimeErrors, as PyTorch's are."""

    def kernel(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except _Error as error:
            raise RuntimeError(str(error)) from None

    return kernel


@functools.cache
def _op(name):
    """An operator of PyTorch, looked up when it is called first: that takes longer than to define it."""
    return getattr(torch.ops.strop, name).default


def _type_number(name, tensor):
    number = _NUMBERS.get(tensor.dtype)
    if number is None:
        raise RuntimeError(f"{name}: there are no elements of type {tensor.dtype}")
    return number


def _follow_threads():
    """Has our loops use as many threads as PyTorch's."""
    threads = torch.get_num_threads()
    if threads != _strop._num_threads():
        _strop._set_num_threads(threads)


def _is_symbolic(tensors):
    return any(not isinstance(extent, int) for tensor in tensors for extent in tensor.shape)


class _Operator:
    """One operator, and its kernels: those that are called often are the core's."""

    def __init__(self, name):
        self.core = _strop._HostOperator(name)
        about = self.core.about
        self.names, self.inputs = about["names"], about["inputs"]
        self.name = self.names[0] if self.names else name
        self.variadic, self.map = about["variadic"], about["map"]
        self.mutates = about["mutates"]
        self.sparse = about["sparse"] and not about["mutates"] and about["visible"] == about["outputs"]
        self.differentiable, self.constant = about["differentiable"], about["constant"]
        self.counts = about["visible"], about["outputs"]
        self.schemas = about
        self.refused = about["refused"] or ("" if self.inputs else "it takes no tensor")
        self.fast = []  # the core's kernels

    # --- arguments ----------------------------------------------------------------------------------------------------

    def split(self, args, kwargs):
        """The tensors of a call by its schema, in the operator's own order."""
        if self.variadic:
            return [*args[:-1], *args[-1]]
        given = [tensor is not None for tensor in args]
        if len(args) == len(self.inputs) and all(given):
            return list(args)
        return [args[at] for at in self.core.placed(kwargs, given)]

    def described(self, tensor, elements=True):
        if elements and tensor.device.type != "cpu":
            raise RuntimeError(f"{self.name}: a tensor is on {tensor.device}, expected cpu")
        return (tensor.data_ptr() if elements else 0, _NUMBERS.get(tensor.dtype) or _type_number(self.name, tensor), tensor.shape)

    def results(self, made, of_all):
        said = self.counts[of_all]
        if said < 0:
            return made
        if len(made) != said:
            raise RuntimeError(f"{self.name}: gives {len(made)} results with these parameters, and {said} without; the operator "
                               f"_all_{self.name} gives all that there are")
        return made[0] if said == 1 else tuple(made)

    # --- kernels ------------------------------------------------------------------------------------------------------

    def shapes(self, args, kwargs, of_all=False):
        """Results on tensors that have no elements, whose sizes may be symbols."""
        tensors, params = self.split(args, kwargs), kwargs
        devices = {str(tensor.device) for tensor in tensors}
        if len(devices) > 1:
            raise RuntimeError(f"{self.name}: tensors are on {' and '.join(sorted(devices))}, expected one device")
        if self.map and _is_symbolic(tensors):  # it broadcasts
            shape = torch.broadcast_shapes(*(tensor.shape for tensor in tensors))
            found = [(number, shape) for number, _ in self.core.infer(params, [(0, _type_number(self.name, tensor), ()) for tensor in tensors])]
        else:
            found = self.core.infer(params, [(0, _type_number(self.name, tensor), tuple(int(extent) for extent in tensor.shape))
                                             for tensor in tensors])
        return self.results([tensors[0].new_empty(shape, dtype=_TYPES[number]) for number, shape in found], of_all)

    def visible(self, args, kwargs):
        """Of an operator with outputs that callers do not see: the others."""
        tensors = self.split(args, kwargs)
        made = _op(f"_all_{self.name}")(*args, **kwargs)
        made = [made] if isinstance(made, torch.Tensor) else list(made)
        return self.results(made[: self.core.visible(kwargs, len(tensors))], False)

    def parts(self, inputs, outputs, params):
        """Inputs and outputs of a gradient, those without elements that it does not read; and what keeps them."""
        reads = self.core.reads(params, [(0, _type_number(self.name, tensor), ()) for tensor in inputs])
        kept, parts = [], []
        for tensors, mask in zip((inputs, outputs), reads):
            compact = [tensor.contiguous() if mask >> min(i, 63) & 1 else tensor for i, tensor in enumerate(tensors)]
            kept.append(compact)
            parts.append([self.described(tensor, mask >> min(i, 63) & 1) for i, tensor in enumerate(compact)])
        return *parts, kept

    def coming(self, tensors, like, kept):
        """What comes to tensors like these; None does not come."""
        compact = [None if tensor is None else tensor.contiguous() for tensor in tensors]
        kept.append(compact)
        return [(0, *about[1:]) if tensor is None else self.described(tensor) for tensor, about in zip(compact, like)]

    def room(self, like, wanted):
        """(new tensors for the gradients that are wanted, all gradients as the core is told of them)."""
        made = {i: torch.empty(like[i][2], dtype=_TYPES[like[i][1]]) for i in wanted}
        return list(made.values()), [self.described(made[i]) if i in made else (0, *about[1:]) for i, about in enumerate(like)]

    def differentiate(self, heads, inputs, outputs, wanted, kwargs):
        given, results, kept = self.parts(inputs, outputs, kwargs)
        heads = self.coming(heads, results, kept)
        made, to = self.room(given, wanted)
        _follow_threads()
        self.core.differentiate(kwargs, heads, given, results, to)
        return made

    def differentiate_again(self, seconds, heads, inputs, outputs, wanted, asked, kwargs):
        given, results, kept = self.parts(inputs, outputs, kwargs)
        count = len(heads)
        heads = self.coming(heads, results, kept)
        coming = [None] * len(inputs)
        for i, second in zip(wanted, seconds):
            coming[i] = second
        seconds = self.coming(coming, given, kept)
        made, to = self.room([*heads, *given], asked)
        _follow_threads()
        self.core.differentiate_again(kwargs, seconds, heads, given, results, to[:count], to[count:])
        return made

    # --- the graph ----------------------------------------------------------------------------------------------------

    def record(self, name, keys, args, kwargs, of_all):
        """The call, in PyTorch's graph where something asks for its gradient: what the core's kernel leaves."""
        tensors = self.split(args, kwargs)
        if self.sparse and self.differentiable and _asks(*tensors) and any(tensor.layout is not torch.strided for tensor in tensors):
            made = _apply(_SparseCall, self, kwargs, *tensors)
            return list(made) if self.counts[of_all] < 0 else made[0] if len(made) == 1 else made
        written = [args[i] for i, about in enumerate(self.inputs) if about[3]] if self.mutates else []
        asked = not self.constant and _asks(*tensors)
        if _asks(*written):
            raise RuntimeError(f"{self.name}: writes a tensor that requires a gradient; detach it")
        call = _deferred(name, keys, args, kwargs)
        if not asked:
            made = call()
        else:
            made = (_apply(_Call, self, call, kwargs, of_all, *tensors) if self.differentiable else
                    _apply(_Without, f"strop::{self.name}: has no gradient", call, *tensors))
            made = list(made) if self.counts[of_all] < 0 else made[0] if len(made) == 1 else made
        for tensor in written:
            torch.autograd.graph.increment_version(tensor)
        return made

    def record_gradient(self, name, keys, args, kwargs):
        heads, inputs, outputs, wanted = args
        call = _deferred(name, keys, args, kwargs)
        if not _asks(*heads, *inputs):
            return call()
        return list(_apply(_Gradient, self, call, kwargs, outputs, wanted, len(heads), *heads, *inputs))

    def record_second(self, name, keys, args, kwargs):
        call = _deferred(name, keys, args, kwargs)
        tensors = [tensor for tensor in (*args[0], *args[1], *args[2]) if tensor is not None]
        if not _asks(*tensors):
            return call()
        return list(_apply(_Without, f"strop::{self.name}: PyTorch differentiates it twice, and it is asked for a third time", call, *tensors))

    # --- registration -------------------------------------------------------------------------------------------------

    def define(self, library, taken):
        """Defines the operator by those of its names that are free, and the operators of its gradients."""
        schemas, own = self.schemas, self.name
        if schemas["all"]:
            self.kernels(library, f"_all_{own}", schemas["all"], True)
        for name in self.names:
            if name in taken:
                continue
            taken.add(name)
            if schemas["all"]:
                library.define(name + schemas["forward"], tags=_TAGS)
                library.impl(name, _failing(lambda *args, **kwargs: self.visible(args, kwargs)), "CompositeImplicitAutograd")
                if not self.mutates:
                    _register_vmap(library, name, False)
            else:
                self.kernels(library, name, schemas["forward"], False)
        if not self.differentiable:
            return
        first, second = self.gradients = f"_backward_{own}", f"_backward_twice_{own}"
        library.define(first + schemas["gradient"], tags=_TAGS)
        library.impl(first, _failing(lambda *args, **kwargs: self.differentiate(*args, kwargs)), "CPU")
        library.impl(first, lambda heads, inputs, outputs, wanted, /, **_: [_like(inputs[i]) for i in wanted], "Meta")
        library.impl(first, _failing(lambda keys, /, *args, **kwargs: self.record_gradient(first, keys, args, kwargs)), "Autograd", with_keyset=True)
        library.define(second + schemas["second_gradient"], tags=_TAGS)
        _register_vmap(library, first, self.map)
        _register_vmap(library, second, self.map)
        library.impl(second, _failing(lambda *args, **kwargs: self.differentiate_again(*args, kwargs)), "CPU")
        library.impl(second, lambda seconds, heads, inputs, outputs, wanted, given, /, **_: [_like((*heads, *inputs)[i]) for i in given], "Meta")
        library.impl(second, _failing(lambda keys, /, *args, **kwargs: self.record_second(second, keys, args, kwargs)), "Autograd", with_keyset=True)

    def kernels(self, library, name, schema, of_all):
        library.define(name + schema, tags=_TAGS)
        library.impl(name, self.kernel(None, of_all), "CPU")
        library.impl(name, _failing(lambda *args, **kwargs: self.shapes(args, kwargs, of_all)), "Meta")
        if not self.constant or self.mutates:
            rest = _failing(lambda keys, /, *args, **kwargs: self.record(name, keys, args, kwargs, of_all))
            library.impl(name, self.kernel(rest, of_all), "Autograd", with_keyset=True)
        if not self.mutates:
            _register_vmap(library, name, self.map)
        if (len(self.inputs) > 1 or self.variadic) and not self.mutates:  # a copy would be written, not the tensor
            library.impl(name, lambda keys, /, *args, **kwargs: _promoted(name, args, kwargs), "AutocastCPU", with_keyset=True)
        if self.sparse:
            sparse = _failing(lambda *args, **kwargs: self.results(self.run_sparse(self.split(args, kwargs), kwargs), of_all))
            library.impl(name, sparse, "SparseCsrCPU")
            library.impl(name, sparse, "SparseCPU")

    def run_sparse(self, tensors, kwargs):
        return [_tensor_over(array) for array in self.core.run_arrays(kwargs, [_array_over(self.name, tensor) for tensor in tensors])]

    def kernel(self, otherwise, of_all):
        self.fast.append(_strop._TorchKernel(self, self.core, otherwise, of_all))
        return self.fast[-1]

    def end(self):
        for kernel in self.fast:
            kernel.end()
        self.core = None


def _deferred(name, keys, args, kwargs):
    """A call of an operator below PyTorch's autograd, to be made."""

    def call():
        with torch._C._AutoDispatchBelowAutograd():  # as torch.library's own kernels of autograd do
            return _op(name).redispatch(keys & torch._C._after_autograd_keyset, *args, **kwargs)

    return call


def _apply(function, *args):
    """The call of what records one. Transforms of torch.func have chosen their level before kernels see a call."""
    with enable_single_level_autograd_function():
        return function.apply(*args)


def _asks(*tensors):
    """Whether a derivative is asked of one of the tensors; that of forward mode is refused by what records it."""
    if torch.is_grad_enabled():
        for tensor in tensors:
            if tensor is not None and tensor.requires_grad:
                return True
    return forward_ad._current_level >= 0 and any(tensor is not None and forward_ad.unpack_dual(tensor).tangent is not None for tensor in tensors)


def _like(tensor):
    return torch.empty_like(tensor, memory_format=torch.contiguous_format)


class _Call(_SingleLevelFunction):
    """A call of an operator: `below` computes it, the core where that is None."""

    @staticmethod
    def forward(ctx, operator, below, kwargs, of_all, *tensors):
        ctx.set_materialize_grads(False)
        if below is None:
            made = operator.core.compute(kwargs, tensors, of_all)
        else:
            made = below()
            made = tuple(made) if isinstance(made, (list, tuple)) else (made,)
        kept, shells, constant = operator.core.keep(kwargs, tensors, made, ctx.needs_input_grad[4:])
        ctx.save_for_backward(*kept)
        ctx.about = operator, kwargs, shells, len(tensors)
        if constant:
            ctx.mark_non_differentiable(*constant)
        return made

    @staticmethod
    def backward(ctx, *heads):
        (operator, kwargs, shells, inputs), kept, wanted = ctx.about, ctx.saved_tensors, ctx.needs_input_grad[4:]
        made = operator.core.gradients(kwargs, heads, kept, shells, inputs, wanted)
        if made is None:  # something else is to see the call
            kept = iter(kept)
            tensors = [next(kept) if shell is None else torch.empty((), dtype=shell[0], device=shell[2]).expand(shell[1]) for shell in shells]
            asked = [i for i, needed in enumerate(wanted) if needed]
            found = _op(operator.gradients[0])(list(heads), tensors[:inputs], tensors[inputs:], asked, **kwargs)
            made = [None] * inputs
            for i, gradient in zip(asked, found):
                made[i] = gradient
        return None, None, None, None, *made


def _array_over(name, tensor):
    """An array of ours over the memory of a tensor of any layout that there is here."""
    tensor = tensor.detach()
    if tensor.layout is torch.strided:
        return _nd.from_dlpack(tensor.contiguous())
    if tensor.layout is torch.sparse_csr and tensor.dim() == 2:
        made = _strop.csr_matrix(*(_nd.from_dlpack(part.contiguous()) for part in (tensor.values(), tensor.col_indices(), tensor.crow_indices())), tuple(tensor.shape))
        made.check_format()
        return made
    if tensor.layout is torch.sparse_coo and tensor.sparse_dim() == 1:
        tensor = tensor.coalesce()
        return _strop.row_sparse_array(_nd.from_dlpack(tensor.values().contiguous()), _nd.from_dlpack(tensor.indices()[0].contiguous()), tuple(tensor.shape))
    raise RuntimeError(f"{name}: a tensor is {tensor.layout} of {tensor.dim()} dimensions, expected strided, sparse_csr of 2, or sparse_coo of which "
                       "one is sparse")


def _tensor_over(array):
    """A tensor over the memory of an array, in the layout that is its storage."""
    if array.stype == "csr":
        parts = (torch.from_dlpack(part) for part in (array.indptr, array.indices, array.data))
        return torch.sparse_csr_tensor(*parts, size=array.shape, check_invariants=False)
    if array.stype == "row_sparse":
        rows = torch.from_dlpack(array.indices).to(torch.int64)
        return torch.sparse_coo_tensor(rows[None], torch.from_dlpack(array.data), array.shape, is_coalesced=True, check_invariants=False)
    return torch.from_dlpack(array)


class _SparseCall(_SingleLevelFunction):
    """A call of which a tensor is sparse: gradients have the layouts of the inputs."""

    @staticmethod
    def forward(ctx, operator, kwargs, *tensors):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors)
        ctx.operator, ctx.kwargs = operator, kwargs
        made = tuple(operator.run_sparse(tensors, kwargs))
        ctx.mark_non_differentiable(*(tensor for tensor in made if not tensor.is_floating_point()))
        return made

    @staticmethod
    def backward(ctx, *heads):
        operator, tensors = ctx.operator, ctx.saved_tensors
        if torch.is_grad_enabled():
            raise RuntimeError(f"{operator.name}: gradients on sparse tensors are of the first order; leave create_graph out")
        wanted = [_STORAGES[tensor.layout] if needed else -1 for tensor, needed in zip(tensors, ctx.needs_input_grad[2:])]
        made = operator.core.differentiate_arrays(ctx.kwargs, [None if head is None else _array_over(operator.name, head) for head in heads],
                                                  [_array_over(operator.name, tensor) for tensor in tensors], wanted)
        return None, None, *(None if array is None else _tensor_over(array) for array in made)


def _promoted(name, args, kwargs):
    """Under autocast: floating tensors of several types are all taken to the one that holds them, as torch.cat does it."""
    floats = {tensor.dtype for tensor in tree_leaves(args) if isinstance(tensor, torch.Tensor) and tensor.is_floating_point()}
    if len(floats) > 1:
        widest = functools.reduce(torch.promote_types, floats)
        args = tree_map(lambda one: one.to(widest) if isinstance(one, torch.Tensor) and one.is_floating_point() else one, args)
    with torch._C._ExcludeDispatchKeyGuard(_AUTOCAST):
        return _op(name)(*args, **kwargs)


class _Gradient(_SingleLevelFunction):
    """A call of the gradient of an operator."""

    @staticmethod
    def forward(ctx, operator, call, kwargs, outputs, wanted, count, *tensors):
        ctx.set_materialize_grads(False)
        ctx.operator, ctx.kwargs, ctx.wanted, ctx.count = operator, kwargs, wanted, count
        ctx.given = [tensor is not None for tensor in tensors]
        ctx.save_for_backward(*(tensor for tensor in tensors if tensor is not None), *(tensor.detach() for tensor in outputs))
        return tuple(call())

    @staticmethod
    def backward(ctx, *seconds):
        kept = iter(ctx.saved_tensors)
        tensors = [next(kept) if given else None for given in ctx.given]
        wanted = [i for i, needed in enumerate(ctx.needs_input_grad[6:]) if needed]
        made = _op(ctx.operator.gradients[1])(list(seconds), tensors[: ctx.count], tensors[ctx.count:], list(kept), ctx.wanted, wanted, **ctx.kwargs)
        gradients = [None] * len(tensors)
        for i, gradient in zip(wanted, made):
            gradients[i] = gradient
        return None, None, None, None, None, None, *gradients


class _Without(_SingleLevelFunction):
    """A call that has no gradient: it says so when somebody asks."""

    @staticmethod
    def forward(ctx, sentence, call, *tensors):
        ctx.sentence = sentence
        made = call()
        made = tuple(made) if isinstance(made, (list, tuple)) else (made,)
        ctx.mark_non_differentiable(*(tensor for tensor in made if not tensor.is_floating_point()))
        return made

    @staticmethod
    def backward(ctx, *heads):
        raise RuntimeError(ctx.sentence)


def _register_vmap(library, name, is_map):
    """A map goes over a batch as over any other axis; another operator is called for each."""

    def over_axis(info, in_dims, /, *args, **kwargs):
        ranks = [tensor.dim() - (dim is not None) for tensor, dim in zip(args, in_dims)]
        shapes = {tuple(extent for axis, extent in enumerate(tensor.shape) if dim is None or axis != dim % tensor.dim()) for tensor, dim in zip(args, in_dims)}
        moved = []
        for tensor, dim, rank in zip(args, in_dims, ranks):
            if dim is not None:  # the batch first, then what broadcasting would have put before
                tensor = tensor.movedim(dim, 0)
                tensor = tensor.reshape(tensor.shape[0], *[1] * (max(ranks) - rank), *tensor.shape[1:])
            elif len(shapes) == 1:  # not every map broadcasts
                tensor = tensor.expand(info.batch_size, *tensor.shape)
            moved.append(tensor)
        made = _op(name)(*moved, **kwargs)
        return made, 0 if isinstance(made, torch.Tensor) else tuple(0 for _ in made)

    def at_once(info, in_dims, /, *args, **kwargs):
        """Of the gradient of a map, where nothing was broadcast."""
        def moved(one, dim):
            if not isinstance(one, torch.Tensor):
                return [moved(each, None if dim is None else dim[k]) for k, each in enumerate(one)] if isinstance(one, (list, tuple)) else one
            return one.expand(info.batch_size, *one.shape) if dim is None else one.movedim(dim, 0)

        tensors = moved(list(args), list(in_dims))
        if len({tensor.shape for tensor in tree_leaves(tensors) if isinstance(tensor, torch.Tensor)}) > 1:
            return one_by_one(info, in_dims, *args, **kwargs)
        made = _op(name)(*tensors, **kwargs)
        return made, [0] * len(made)

    def one_by_one(info, in_dims, /, *args, **kwargs):
        def part(one, dim, i):
            if dim is None:
                return one
            if isinstance(one, (list, tuple)):
                return [part(each, at, i) for each, at in zip(one, dim)]
            return one.select(dim, i) if info.batch_size > 0 else one.new_zeros(one.movedim(dim, 0).shape[1:])

        made = [_op(name)(*(part(one, dim, i) for one, dim in zip(args, in_dims)), **kwargs) for i in range(max(info.batch_size, 1))]

        def together(each):
            return torch.stack(each)[: info.batch_size]  # of no batch one call says what its results are

        if isinstance(made[0], torch.Tensor):
            return together(made), 0
        many = [together(each) for each in zip(*made)]
        return (many, [0] * len(many)) if isinstance(made[0], list) else (tuple(many), (0,) * len(many))

    rule = one_by_one if not is_map else at_once if name.startswith("_backward_") else over_axis

    def batched(keys, /, *args, **kwargs):  # as torch.library.register_vmap has it, which takes long to say
        return custom_function_call_vmap_helper(retrieve_current_functorch_interpreter(), rule, _op(name), *args, **kwargs)

    library.impl(name, batched, "FuncTorchBatched", with_keyset=True)


_AUTOCAST = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)
_STORAGES = {torch.strided: 0, torch.sparse_coo: 1, torch.sparse_csr: 2}  # the numbers of ours
_library = torch.library.Library("strop", "FRAGMENT")
_taken = set()
_seen = set()
_operators = []
left_out = {}  # {name: why it is no operator of PyTorch}


def refresh():
    """Makes operators of PyTorch of those that the registry has got since: loading a library does that."""
    fresh = [names[0] for names in _strop.list_operators() if names[0] not in _seen]
    made = []
    for name in fresh:
        _seen.add(name)
        operator = _Operator(name)
        if operator.refused:
            left_out[name] = operator.refused
        else:
            made.append(operator)
    own = {operator.name for operator in made}
    for operator in made:  # an operator's own name goes before another's alias
        operator.names = [name for name in operator.names if name == operator.name or name not in own]
        operator.define(_library, _taken)
    _operators.extend(made)


def _end():
    """PyTorch's dispatcher keeps our kernels, and so this module, longer than the interpreter lives: they let go of the core."""
    for operator in _operators:
        operator.end()
    globals()["_strop"] = None


_strop._begin_torch({
    "Tensor": torch.Tensor, "Parameter": torch.nn.Parameter, "strided": torch.strided, "empty": torch.empty, "empty_like": torch.empty_like,
    "is_grad_enabled": torch.is_grad_enabled, "get_num_threads": torch.get_num_threads, "modes": torch._C._len_torch_dispatch_stack,
    "transforms": torch._C._functorch.peek_interpreter_stack, "profiles": torch._C._autograd._profiler_enabled, "tangents": vars(forward_ad),
    "apply": _Call.apply, "below_autograd": torch._C._after_autograd_keyset.raw_repr(),
    "plain": torch._C.DispatchKeySet(torch._C.DispatchKey.CPU).raw_repr()}, _NUMBERS)
refresh()
atexit.register(_end)
