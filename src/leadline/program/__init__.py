"""Programs as data: written by hand (`evaluate`), recorded or imported; read and written as files."""

from leadline.program.files import read
from leadline.program.model import Kind, Operation, Program
from leadline.program.write import ANY, LARGEST, PRODUCT, SMALLEST, SUM, Comm, evaluate

__all__ = [
    "ANY",
    "LARGEST",
    "PRODUCT",
    "SMALLEST",
    "SUM",
    "Comm",
    "Kind",
    "Operation",
    "Program",
    "evaluate",
    "read",
]
