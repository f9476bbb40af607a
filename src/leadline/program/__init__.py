"""Programs as data: written by hand (`evaluate`), recorded or imported; read and written as files."""

from leadline.program.comm import ANY, LARGEST, PRODUCT, SMALLEST, SUM, Comm
from leadline.program.evaluate import evaluate
from leadline.program.files import read
from leadline.program.model import Kind, Operation, Program

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
