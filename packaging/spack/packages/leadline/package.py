"""Spack package of Leadline: `spack repo add packaging/spack`, then `spack install leadline`."""

from spack.package import *


class Leadline(PythonPackage):
    """Measures what message passing and parallel I/O really cost, and fits models to it."""

    license("BSD-3-Clause")

    # A clone is built in place: `spack develop --path CLONE leadline@main`.
    version("main", branch="main")
    version("0.1.0")

    depends_on("c", type=("build", "run"))
    depends_on("cxx", type=("build", "run"))
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-hatchling", type="build")
    depends_on("py-click@8.2:", type=("build", "run"))
    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-numpy@1.26:", type=("build", "run"))
    depends_on("py-polars", type=("build", "run"))
    depends_on("py-prometheus-client@0.20:", type=("build", "run"))
    depends_on("py-psij-python@0.9.9:", type=("build", "run"))
    depends_on("py-psutil@5.9:", type=("build", "run"))
    depends_on("py-pyelftools@0.30:", type=("build", "run"))
    depends_on("py-rich@13:", type=("build", "run"))
    depends_on("py-ruptures@1.1.9:", type=("build", "run"))
    depends_on("py-scikit-learn@1.4:", type=("build", "run"))
    depends_on("py-scipy@1.11:", type=("build", "run"))
    depends_on("py-vl-convert-python@1.7:", type=("build", "run"))

    # The benchmark programs are built at the first run, for the MPIs that are there then.
    depends_on("cmake@3.25:", type="run")
    depends_on("hwloc@2:", type=("link", "run"))
    depends_on("nlohmann-json@3.11:", type=("link", "run"))
    depends_on("mpi", type=("link", "run"))
