# SPDX-License-Identifier: Apache-2.0
"""Every operator of the registry as a function, in the module that MXNet's rules put its names in."""
import sys
import types

from . import _documents, _strop  # noqa: F401  what the core asks of operators that are looked at

# Prefixes of names and the modules that they go to. Of _random_ only those in the shape of another array.
PREFIXES = ("_contrib_", "_linalg_", "_sparse_", "_image_", "_random_")
NUMPY = ("_npi_", "_npx_", "_np_")


def place(name):
    """(module, name in it) of an operator's name; None where it is for another interface."""
    if name.startswith(NUMPY):
        return None
    for prefix in PREFIXES:
        if name.startswith(prefix) and (prefix != "_random_" or name.endswith("_like")):
            return prefix.strip("_"), name[len(prefix):]
    if name.startswith("_"):
        return "_internal", name
    return "", name


class Operators(dict):
    """{(module, name): operator} of every operator by each of its names."""

    def __init__(self, symbolic):
        super().__init__()
        self.symbolic = symbolic
        self.package = "strop.symbol" if symbolic else "strop.ndarray"
        self.filled = []  # (module, place): what refresh() looks through


class _Module(str):
    """The name of the core's module; of an operator that of the module that it is found in."""

    __slots__ = ()
    found = {}  # {operator: name}

    def __get__(self, operator, cls=None):
        return self if operator is None else self.found.get(operator, "strop.ndarray.op")

    def __reduce__(self):
        return str, (str(self),)  # pickle asks for a string of no other type


_strop.Operator.__module__ = _Module("strop._strop")


def make_operators(symbolic):
    """Every operator by each of its names, which the core finds: crop is slice, whose alias it is, not Crop. Own names come
    before aliases."""
    made = Operators(symbolic)
    everything = _strop.list_operators()
    for own in (True, False):
        for names in everything:
            for name in names[:1] if own else names[1:]:
                where = place(name)
                if where is not None and where not in made:
                    _add(made, where, name)
    # What serves sparse arrays is in `sparse`, by MXNet's names with that prefix and by its own.
    for (where, name), operator in list(made.items()):
        if where in ("", "contrib") and ("sparse", name) not in made and operator.serves_sparse:
            _add(made, ("sparse", name), f"_{where}_{name}" if where else name)
    return made


def _add(made, where, name):
    made[where] = _strop.Operator(name, where[1], made.symbolic)
    _Module.found[made[where]] = f"{made.package}.{where[0] or 'op'}"


def fill_modules(package, operators, names):
    """Makes modules that hold operators and nothing else; `op` has those of the top level."""
    for name in names:
        module = types.ModuleType(f"{package}.{name}", "Operators from the registry.")
        sys.modules[module.__name__] = module
        setattr(sys.modules[package], name, module)
        add_functions(module, operators, "" if name == "op" else name)
        if name == "op":  # what is called by its underscore is found here as well
            add_functions(module, operators, "_internal")


def add_functions(module, operators, place_name):
    """Adds the operators of one place to a module, but for names that it has."""
    operators.filled.append((module, place_name))
    _fill(module, operators, place_name)


def _fill(module, operators, place_name):
    space = vars(module)
    for (where, name), operator in operators.items():
        if where == place_name:
            space.setdefault(name, operator)


def add_draws(module, operators):
    """Adds a function for every operator that draws, but for names that the module has: gamma for _random_gamma, of numbers,
    and _sample_gamma, of arrays. The module says what they are: `make_draw(name, of numbers, of arrays)`, either may be None."""
    operators.filled.append((module, None))
    _fill_draws(module, operators)


def _fill_draws(module, operators):
    found = {}
    for (where, name), operator in operators.items():
        for column, prefix in enumerate(("_random_", "_sample_")):
            if where == "_internal" and name.startswith(prefix) and bool(operator.description["inputs"]) == (column == 1):
                found.setdefault(name[len(prefix):], [None, None])[column] = operator
    for name, both in found.items():
        if not hasattr(module, name):
            setattr(module, name, module.make_draw(name, *both))
            module.__all__.append(name)


def add_methods(cls, operators):
    """Every operator of the top level that takes an array first, and writes none, is a method; what updates weights is
    none, nor what draws numbers of arrays, nor is a name that the class has."""
    for (where, name), operator in operators.items():
        if where == "" and name[0].islower() and operator.is_method and not (name.endswith("_update") or name.startswith("sample_")) and not hasattr(cls, name):
            setattr(cls, name, operator)


def add_public(space, module):
    """Adds everything of a module that is no module itself to a namespace, but for names that it has."""
    for name, value in vars(module).items():
        if not name.startswith("_") and not isinstance(value, types.ModuleType):
            space.setdefault(name, value)


def refresh(*all_operators):
    """Adds operators that the registry has got since."""
    for operators in all_operators:
        for key, operator in make_operators(operators.symbolic).items():
            operators.setdefault(key, operator)
        for module, place_name in operators.filled:
            _fill_draws(module, operators) if place_name is None else _fill(module, operators, place_name)
