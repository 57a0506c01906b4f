# SPDX-License-Identifier: Apache-2.0
"""Operators of strop as operators of PyTorch: `import strop.torch`, then `torch.ops.strop.smooth_l1(x, scalar=2.0)`.

Every operator of the registry, and of libraries that are loaded before or after, takes tensors of the CPU and gives tensors that
PyTorch's allocator made; inputs that are contiguous are used where they lie. Operators are differentiated twice, compiled by
torch.compile and checked by torch.library.opcheck. docs/pytorch.md says which are left out, and why.
"""
import atexit
import functools

try:
    import torch
    from torch.autograd import forward_ad
except ImportError as error:
    raise ImportError(f"strop.torch needs PyTorch: {error}") from error

from . import _strop

__all__ = ["left_out", "refresh"]

_OLDEST = (2, 9)
if tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2]) < _OLDEST:
    raise ImportError(f"strop.torch needs PyTorch 2.9 or newer, this is {torch.__version__}")

_NUMBERS = {torch.float32: 0, torch.float64: 1, torch.float16: 2, torch.uint8: 3, torch.int32: 4, torch.int8: 5, torch.int64: 6,
            torch.bool: 7, torch.bfloat16: 12}
_TYPES = {number: dtype for dtype, number in _NUMBERS.items()}
_NAMES = {dtype: str(dtype).removeprefix("torch.") for dtype in _NUMBERS}
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
    """One operator, and its kernels."""

    def __init__(self, name):
        self.core = _strop._HostOperator(name)
        about = self.core.about
        self.names, self.inputs = about["names"], about["inputs"]
        self.name = self.names[0] if self.names else name
        self.variadic, self.map = about["variadic"], about["map"]
        self.trains, self.mutates = about["trains"], about["mutates"]
        self.differentiable, self.constant = about["differentiable"], about["constant"]
        self.counts = about["visible"], about["outputs"]
        self.schemas = about
        self.simple = not self.variadic and not any(optional for _, optional, _, _ in self.inputs)
        self.inferred = {}  # {types and shapes of a call without parameters: those of its results}
        self.refused = about["refused"] or ("" if self.inputs else "it takes no tensor")

    # --- arguments ----------------------------------------------------------------------------------------------------

    def split(self, args, kwargs):
        """(tensors in the operator's own order, parameters, whether it trains) of a call by its schema."""
        params, train = self.parameters(kwargs)
        if self.variadic:
            tensors = [*args[:-1], *args[-1]]
            return tensors, params, train
        given = [tensor is not None for tensor in args]
        if len(args) == len(self.inputs) and all(given):
            return list(args), params, train
        return [args[at] for at in self.core.placed(params, given)], params, train

    def parameters(self, kwargs):
        """(parameters, whether the call trains)."""
        params = {key: _NAMES.get(value, value) if isinstance(value, torch.dtype) else value for key, value in kwargs.items()}
        return params, params.pop("training", False) if self.trains else False

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

    def run(self, args, kwargs, of_all=False):
        if self.core is None:
            raise RuntimeError(f"{self.name}: the interpreter is ending")
        tensors, params, train = self.split(args, kwargs) if kwargs or not self.simple else (args, kwargs, False)
        compact = [tensor if tensor.is_contiguous() else tensor.contiguous() for tensor in tensors]
        given = [self.described(tensor) for tensor in compact]
        key = None if kwargs else tuple([about[1:] for about in given])
        inferred = self.inferred.get(key)
        if inferred is None:
            inferred = [(shape, _TYPES[number], number) for number, shape in self.core.infer(params, given)]
            if key is not None and len(self.inferred) < 256:
                self.inferred[key] = inferred
        made = [torch.empty(shape, dtype=dtype) for shape, dtype, _ in inferred]
        _follow_threads()
        self.core.run(params, given, [(tensor.data_ptr(), number, shape) for tensor, (shape, _, number) in zip(made, inferred)], train)
        if self.mutates:
            for tensor, copy, about in zip(tensors, compact, self.inputs):
                if about[3] and copy is not tensor:
                    tensor.copy_(copy)
        return self.results(made, of_all)

    def shapes(self, args, kwargs, of_all=False):
        """Results on tensors that have no elements, whose sizes may be symbols."""
        tensors, params, _ = self.split(args, kwargs)
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
        tensors, params, _ = self.split(args, kwargs)
        made = _op(f"_all_{self.name}")(*args, **kwargs)
        made = [made] if isinstance(made, torch.Tensor) else list(made)
        return self.results(made[: self.core.visible(params, len(tensors))], False)

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
        params, train = self.parameters(kwargs)
        given, results, kept = self.parts(inputs, outputs, params)
        heads = self.coming(heads, results, kept)
        made, to = self.room(given, wanted)
        _follow_threads()
        self.core.differentiate(params, heads, given, results, to, train)
        return made

    def differentiate_again(self, seconds, heads, inputs, outputs, wanted, asked, kwargs):
        params, train = self.parameters(kwargs)
        given, results, kept = self.parts(inputs, outputs, params)
        count = len(heads)
        heads = self.coming(heads, results, kept)
        coming = [None] * len(inputs)
        for i, second in zip(wanted, seconds):
            coming[i] = second
        seconds = self.coming(coming, given, kept)
        made, to = self.room([*heads, *given], asked)
        _follow_threads()
        self.core.differentiate_again(params, seconds, heads, given, results, to[:count], to[count:], train)
        return made

    # --- the graph ----------------------------------------------------------------------------------------------------

    def record(self, name, keys, args, kwargs, of_all):
        """The call, in PyTorch's graph where something asks for its gradient."""
        if not self.mutates and self.simple and not _asks(*args):
            return self.below(name, keys, args, kwargs, of_all)
        tensors, params, _ = self.split(args, kwargs)
        written = [args[i] for i, about in enumerate(self.inputs) if about[3]] if self.mutates else []
        asked = not self.constant and _asks(*tensors)
        if _asks(*written):
            raise RuntimeError(f"{self.name}: writes a tensor that requires a gradient; detach it")

        def call():
            return self.below(name, keys, args, kwargs, of_all)

        if not asked:
            made = call()
        else:
            made = (_Call.apply(self, call, params, kwargs, *tensors) if self.differentiable else
                    _Without.apply(f"strop::{self.name}: has no gradient", call, *tensors))
            made = list(made) if self.counts[of_all] < 0 else made[0] if len(made) == 1 else made
        for tensor in written:
            torch.autograd.graph.increment_version(tensor)
        return made

    def below(self, name, keys, args, kwargs, of_all):
        """The call without PyTorch's autograd: at once on tensors of the CPU, where nothing else is to see it."""
        keys = keys & torch._C._after_autograd_keyset
        if keys == _PLAIN:
            return self.run(args, kwargs, of_all)
        with torch._C._AutoDispatchBelowAutograd():  # as torch.library's own kernels of autograd do
            return _op(name).redispatch(keys, *args, **kwargs)

    def record_gradient(self, name, keys, args, kwargs):
        heads, inputs, outputs, wanted = args
        call = _deferred(name, keys, args, kwargs)
        if not _asks(*heads, *inputs):
            return call()
        return list(_Gradient.apply(self, call, kwargs, outputs, wanted, len(heads), *heads, *inputs))

    def record_second(self, name, keys, args, kwargs):
        call = _deferred(name, keys, args, kwargs)
        tensors = [tensor for tensor in (*args[0], *args[1], *args[2]) if tensor is not None]
        if not _asks(*tensors):
            return call()
        return list(_Without.apply(f"strop::{self.name}: PyTorch differentiates it twice, and it is asked for a third time", call, *tensors))

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
            else:
                self.kernels(library, name, schemas["forward"], False)
                if self.map:
                    _register_vmap(library, name)
        if not self.differentiable:
            return
        first, second = self.gradients = f"_backward_{own}", f"_backward_twice_{own}"
        library.define(first + schemas["gradient"], tags=_TAGS)
        library.impl(first, _failing(lambda *args, **kwargs: self.differentiate(*args, kwargs)), "CPU")
        library.impl(first, lambda heads, inputs, outputs, wanted, **_: [_like(inputs[i]) for i in wanted], "Meta")
        library.impl(first, _failing(lambda keys, *args, **kwargs: self.record_gradient(first, keys, args, kwargs)), "Autograd", with_keyset=True)
        library.define(second + schemas["second_gradient"], tags=_TAGS)
        library.impl(second, _failing(lambda *args, **kwargs: self.differentiate_again(*args, kwargs)), "CPU")
        library.impl(second, lambda seconds, heads, inputs, outputs, wanted, given, **_: [_like((*heads, *inputs)[i]) for i in given], "Meta")
        library.impl(second, _failing(lambda keys, *args, **kwargs: self.record_second(second, keys, args, kwargs)), "Autograd", with_keyset=True)

    def kernels(self, library, name, schema, of_all):
        library.define(name + schema, tags=_TAGS)
        library.impl(name, _failing(lambda *args, **kwargs: self.run(args, kwargs, of_all)), "CPU")
        library.impl(name, _failing(lambda *args, **kwargs: self.shapes(args, kwargs, of_all)), "Meta")
        if not self.constant or self.mutates:
            library.impl(name, _failing(lambda keys, *args, **kwargs: self.record(name, keys, args, kwargs, of_all)), "Autograd", with_keyset=True)


def _deferred(name, keys, args, kwargs):
    """A call of an operator below PyTorch's autograd, to be made."""

    def call():
        with torch._C._AutoDispatchBelowAutograd():  # as torch.library's own kernels of autograd do
            return _op(name).redispatch(keys & torch._C._after_autograd_keyset, *args, **kwargs)

    return call


def _asks(*tensors):
    """Whether a derivative is asked of one of the tensors; that of forward mode is refused by what records it."""
    if torch.is_grad_enabled():
        for tensor in tensors:
            if tensor is not None and tensor.requires_grad:
                return True
    return forward_ad._current_level >= 0 and any(tensor is not None and forward_ad.unpack_dual(tensor).tangent is not None for tensor in tensors)


def _like(tensor):
    return torch.empty_like(tensor, memory_format=torch.contiguous_format)


def _shell(tensor):
    """A tensor that lends its shape alone: one element, repeated."""
    return tensor.detach().new_empty(()).expand(tensor.shape)


class _Call(torch.autograd.Function):
    """A call of an operator."""

    @staticmethod
    def forward(ctx, operator, call, params, kwargs, *tensors):
        ctx.set_materialize_grads(False)
        made = call()
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        reads, results = operator.core.reads(params, [(0, _NUMBERS[tensor.dtype], ()) for tensor in tensors])
        # A result that is kept is a function of the inputs, which the second gradient goes back to.
        ctx.inputs = [None if reads >> min(i, 63) & 1 or (results and ctx.needs_input_grad[4 + i]) else _shell(tensor)
                      for i, tensor in enumerate(tensors)]
        ctx.outputs = [None if results >> min(k, 63) & 1 else _shell(tensor) for k, tensor in enumerate(made)]
        ctx.save_for_backward(*(tensor for tensor, shell in zip((*tensors, *made), (*ctx.inputs, *ctx.outputs)) if shell is None))
        ctx.operator, ctx.kwargs = operator, kwargs
        ctx.mark_non_differentiable(*(tensor for tensor in made if not tensor.is_floating_point()))
        return tuple(made)

    @staticmethod
    def backward(ctx, *heads):
        kept = iter(ctx.saved_tensors)
        inputs, outputs = ([next(kept) if shell is None else shell for shell in shells] for shells in (ctx.inputs, ctx.outputs))
        wanted = [i for i, needed in enumerate(ctx.needs_input_grad[4:]) if needed]
        made = _op(ctx.operator.gradients[0])(list(heads), inputs, outputs, wanted, **ctx.kwargs)
        gradients = [None] * len(inputs)
        for i, gradient in zip(wanted, made):
            gradients[i] = gradient
        return None, None, None, None, *gradients


class _Gradient(torch.autograd.Function):
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


class _Without(torch.autograd.Function):
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


def _register_vmap(library, name):
    """A map goes over a batch as over any other axis."""

    def rule(info, in_dims, *args, **kwargs):
        ranks = [tensor.dim() - (dim is not None) for tensor, dim in zip(args, in_dims)]
        moved = []
        for tensor, dim, rank in zip(args, in_dims, ranks):
            if dim is not None:  # the batch first, then what broadcasting would have put before
                tensor = tensor.movedim(dim, 0)
                tensor = tensor.reshape(tensor.shape[0], *[1] * (max(ranks) - rank), *tensor.shape[1:])
            moved.append(tensor)
        made = _op(name)(*moved, **kwargs)
        return made, 0 if isinstance(made, torch.Tensor) else tuple(0 for _ in made)

    torch.library.register_vmap(f"strop::{name}", rule, lib=library)


_library = torch.library.Library("strop", "FRAGMENT")
_PLAIN = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
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
        operator.core = None
    globals()["_strop"] = None


refresh()
atexit.register(_end)
