"""Spack package of ruptures, which finds change points; Spack's own packages do not have it."""

from spack.package import *


class PyRuptures(PythonPackage):
    """Change point detection for signals in Python."""

    homepage = "https://centre-borelli.github.io/ruptures-docs/"
    pypi = "ruptures/ruptures-1.1.10.tar.gz"

    license("BSD-2-Clause")

    version("1.1.10", sha256="76b998f10709045e91a5f44173dc574bf98a106fd3bf22ec3c63b298a02df031")

    depends_on("c", type="build")
    depends_on("python@3.9:3.13", type=("build", "run"))
    depends_on("py-setuptools@42:", type="build")
    depends_on("py-setuptools-scm@3.4:", type="build")
    depends_on("py-cython@0.28.5:", type="build")
    depends_on("py-numpy", type=("build", "run"))
    depends_on("py-scipy@0.19.1:", type=("build", "run"))
