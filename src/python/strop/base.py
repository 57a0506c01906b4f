# SPDX-License-Identifier: Apache-2.0
"""Errors, element types and the marker of a parameter that is not given: what every other module stands on."""
import contextlib
import functools
import inspect
import os
import stat
import sys
import warnings

import numpy as np

from . import _strop

Error = _strop.Error
MXNetError = Error


error_types = {}  # {name: class} of errors


def register_error(func_name=None, cls=None):
    """Puts a class of errors into error_types, by its name or another; a decorator, or one that takes the name."""
    if callable(func_name):
        func_name, cls = func_name.__name__, func_name

    def take(found):
        error_types[func_name if isinstance(func_name, str) else found.__name__] = found
        return found

    return take if cls is None else take(cls)


@functools.cache
def also(kind, *others):
    """An error of ours that is of other kinds as well: of those that MXNet raises in its place."""
    members = {"__module__": kind.__module__, "__str__": BaseException.__str__,
               "__reduce__": lambda self: (_error_again, (kind, others, self.args))}
    return type(kind.__name__, (kind, *others), members)


def _error_again(kind, others, args):
    """An error that was pickled: the class is made where it is raised, and has no name to be found by."""
    return also(kind, *others)(*args)


@register_error
class NotImplementedForSymbol(_strop.TypeError):
    """A function of arrays was asked of a symbol."""

    def __init__(self, function, alias=None, *args):
        name = function if isinstance(function, str) else function.__name__
        super().__init__(f"{name}: a symbol has no value; bind it first")


class NotSupportedForSparseNDArray(_strop.TypeError):
    """A function of dense arrays was asked of a sparse one."""

    def __init__(self, function, alias=None, *args):
        name = function if isinstance(function, str) else function.__name__
        super().__init__(f"{name}: takes a dense array; say tostype('default') first")


class _NullType:
    """The default of a parameter that has one of its own: not given."""

    def __repr__(self):
        return "_Null"

    def __bool__(self):
        return False


_Null = _NullType()
bfloat16 = np.dtype([("bfloat16", np.uint16)])  # NumPy has no such type: two opaque bytes

# By the numbers that files use.
_DTYPES = {0: np.float32, 1: np.float64, 2: np.float16, 3: np.uint8, 4: np.int32, 5: np.int8, 6: np.int64, 7: np.bool_, 12: bfloat16}
TRUTH, NUMBER = 1, 2  # bits of NDArray._facts: it came from a comparison; it is one number without dimensions
STORAGES = ("default", "row_sparse", "csr")
GRAD_REQUESTS = {"null": 0, "write": 1, "add": 3}


def py_str(text):
    """Bytes of the core as text."""
    return text.decode("utf-8") if isinstance(text, bytes) else text


def data_dir_default():
    """Where files for training are kept unless MXNET_HOME says where: .mxnet in the home folder."""
    return os.path.join(os.path.expanduser("~"), ".mxnet")


def data_dir():
    """Where files for training are kept: MXNET_HOME, else .mxnet in the home folder."""
    return os.environ.get("MXNET_HOME") or data_dir_default()


def add_fileline_to_docstring(module, incursive=True):
    """Ends the documents of a module's functions, and of its classes' methods, with the file and line of each."""
    for _, found in inspect.getmembers(sys.modules[module] if isinstance(module, str) else module):
        function = found.__func__ if inspect.ismethod(found) else found
        if inspect.isfunction(function) and function.__doc__ is not None and "From:" not in function.__doc__:
            try:
                function.__doc__ += f"\n\nFrom:{inspect.getsourcefile(function)}:{inspect.getsourcelines(function)[1]}"
            except (OSError, TypeError):  # there is no source
                continue
        elif inspect.isclass(found) and incursive:
            add_fileline_to_docstring(found, False)


def build_param_doc(arg_names, arg_types, arg_descs, remove_dup=True):
    """The section of a document that says parameters, each name once."""
    lines, seen = [], {"num_args"}
    for name, kind, what in zip(arg_names, arg_types, arg_descs):
        if not remove_dup and name != "num_args" or name not in seen:
            lines.append(f"{name} : {kind}" + (f"\n    {what}" if what else ""))
        seen.add(name)
    return "\n".join(["Parameters", "----------", *lines, ""])


class _MXClassPropertyDescriptor:
    """A property of a class, which its objects have as well."""

    def __init__(self, fget, fset=None):
        self.fget, self.fset = fget, fset

    def __get__(self, obj, clas=None):
        return self.fget.__get__(obj, clas or type(obj))()

    def __set__(self, obj, value):
        cls = obj if inspect.isclass(obj) else type(obj)
        if self.fset is None:
            raise Error(f"{cls.__name__}: a property that has no setter is set")
        self.fset.__get__(None, cls)(value)

    def setter(self, func):
        """A decorator of what sets the property."""
        self.fset = func if isinstance(func, (classmethod, staticmethod)) else classmethod(func)
        return self


class _MXClassPropertyMetaClass(type):
    """The class of classes whose properties can be set."""

    def __setattr__(cls, key, value):
        found = cls.__dict__.get(key)
        if isinstance(found, _MXClassPropertyDescriptor):
            found.__set__(cls, value)
        else:
            super().__setattr__(key, value)


def classproperty(func):
    """A decorator: a property of the class."""
    return _MXClassPropertyDescriptor(func if isinstance(func, (classmethod, staticmethod)) else classmethod(func))


def with_metaclass(meta, *bases):
    """A base class whose subclasses are made by `meta`, on these bases."""

    class _Between(type):
        def __new__(cls, name, _, space):
            return meta(name, bases, space)

        @classmethod
        def __prepare__(cls, name, _):
            return meta.__prepare__(name, bases)

    return type.__new__(_Between, "_Between", (), {})


def _as_list(value):
    """A list of what a list or tuple holds, or of the value alone."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


mx_real_t = np.float32
long, basestring = int, str
string_types = (basestring,)
integer_types = (int, np.integer)
numeric_types = (float, int, np.generic)

for _number, _dtype in _DTYPES.items():
    _strop._set_dtype(_number, _dtype)
_strop._set_null(_Null)


def _dtype_name(dtype):
    """The name of whatever names an element type."""
    if isinstance(dtype, str) and dtype == "bfloat16" or dtype is bfloat16:
        return "bfloat16"
    try:
        dtype = np.dtype(dtype)
    except (TypeError, ValueError):
        return str(dtype)
    return "bfloat16" if dtype == bfloat16 else dtype.name


def counted(number, noun):
    """1 row, 2 rows."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def text_in(text, what):
    """A text that can be written in UTF-8; refuses another one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _strop.ValueError(f"{what} is {ascii(text)}, which is no text: it has half of a character") from None
    return text


def path_of(name, function):
    """The name of a file in the bytes that the system has for it; refuses what is none."""
    if not isinstance(name, (str, os.PathLike)):
        raise _strop.TypeError(f"{function}: the name of the file is of type {type(name).__name__}, expected a string")
    try:
        path = os.fsencode(name)
    except UnicodeEncodeError:
        raise _strop.ValueError(f"{function}: {ascii(os.fspath(name))} is no name of a file: it has half of a character") from None
    if b"\0" in path:
        raise _strop.ValueError(f"{function}: {ascii(os.fspath(name))} is no name of a file: it has a zero byte")
    return path


@functools.cache
def _of_file(kind):
    """An error of ours that is of a kind of OSError as well."""
    return getattr(_strop, kind.__name__, None) or also(_strop.OSError, kind)


def file_error(sentence, error):
    """What a failure of the system is here: of its kind, with one sentence."""
    made = _of_file(type(error))(sentence)
    made.errno, made.strerror, made.filename = error.errno, error.strerror, error.filename
    return made


def write_whole(function, name, data):
    """Writes bytes into a file, which is complete or as it was before."""
    path = os.path.realpath(path_of(name, function))  # of a link what it leads to
    beside, mode = path + b"." + os.urandom(8).hex().encode() + b".tmp", None
    try:
        if os.path.exists(path):
            mode = os.stat(path).st_mode
            if not stat.S_ISREG(mode):  # a pipe, or /dev/null
                with open(path, "wb") as file:
                    file.write(data)
                return
        try:
            with open(beside, "xb") as file:
                file.write(data)
            if mode is not None:
                os.chmod(beside, stat.S_IMODE(mode))
            os.replace(beside, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.remove(beside)
            raise
    except OSError as error:
        raise file_error(f"{function}: {error.strerror or error}: {os.fsdecode(name)!r}", error) from error


def arrays_in(values, function, what):
    """A list of arrays as it is, where it holds nothing else."""
    for value in values:
        if not isinstance(value, _strop.NDArray):
            raise also(_strop.TypeError, AttributeError)(f"{function}: {what} of type {type(value).__name__} is given, expected an NDArray")
    return values


def type_of(dtype, whose):
    """An element type as it was said, float32 where none is."""
    if dtype is None or dtype is _Null:
        return mx_real_t
    if not (isinstance(dtype, type) and dtype in _TYPES) and (name := _dtype_name(dtype)) not in DTYPE_NAMES:
        raise also(_strop.ValueError, TypeError)(f"{whose}: dtype is {name!r}, expected one of {', '.join(DTYPE_NAMES)}")
    return dtype


def extents_of(shape):
    """A shape as a tuple; one number alone is a shape as well."""
    if isinstance(shape, integer_types):
        return (int(shape),)
    try:
        given = tuple(shape)
        made = tuple(int(extent) for extent in given)
        if made == given:
            return made
    except (TypeError, ValueError, OverflowError):
        pass
    raise also(_strop.ValueError, TypeError)(f"strop: the shape is {shape!r}, expected whole numbers")


_TYPES = {dtype for dtype in _DTYPES.values() if isinstance(dtype, type)}
DTYPE_NAMES = tuple(_dtype_name(dtype) for dtype in _DTYPES.values())


def storage_number(stype):
    """The number of a storage type by its name, as the core counts them."""
    if stype in STORAGES:
        return STORAGES.index(stype)
    raise also(_strop.ValueError, KeyError)(f"strop: no storage type {stype!r}; there are default, row_sparse and csr")


class LeftOut:
    """A name of MXNet that is not here: files that import it run as far as they do without it."""

    def __init__(self, name, why):
        self._refusal = f"strop.{name}: {why}"

    def __call__(self, *_, **__):
        raise also(_strop.TypeError, NotImplementedError)(self._refusal)

    def __getattr__(self, name):
        if name.startswith("__") or name == "_refusal":
            raise AttributeError(name)
        raise AttributeError(self._refusal)

    def __mro_entries__(self, bases):
        return self()

    def __instancecheck__(self, instance):
        return self()


# The functions that the core calls, by their number.
_HOOKS = ("getitem", "setitem", "repr", "convert", "empty", "dtype_name", "symbol", "signature", "document", "custom", "warn")


def _hook(name):
    """Gives the core a function that is written in Python."""

    def take(function):
        _strop._set_hook(_HOOKS.index(name), function)
        return function

    return take


class FallbackWarning(UserWarning):
    """An operator works on dense copies of sparse arrays: the line that is logged of it."""


@_hook("warn")
def _warn(line):
    warn_program(line, FallbackWarning)


def warn_program(line, kind=UserWarning):
    """Warns of the line of the program that called into the package."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(line, kind, stacklevel=level)


_HERE = os.path.dirname(__file__) + os.sep
_hook("empty")(np.empty)
_hook("dtype_name")(_dtype_name)


def extends(cls):
    """Moves what a class body defines into a class of the core."""

    def take(body):
        for name, value in vars(body).items():
            if name not in ("__dict__", "__weakref__", "__module__", "__doc__", "__qualname__", "__slots__"):
                setattr(cls, name, value)
        cls.__module__ = body.__module__
        return cls

    return take
