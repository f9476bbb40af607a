"""Writes the recorder's wrappers for one MPI: wrappers.py OUTPUT COMPILER [INCLUDE DIRECTORY...].

Which calls are recorded stands in calls.txt, what their parameters are in the MPI's own mpi.h. Each call has
a frame for C, which calls PMPI, and one for each way in which Fortran names it, which calls the next
library's function of the same name: constants of Fortran mean something to that alone.
"""

import re
import subprocess
import sys
from pathlib import Path

# What a parameter is, by the letter that follows its name in calls.txt; its value for C and from Fortran.
VALUES = {
    "b": ("{0}", "{0}"),  # a buffer, or whatever is passed on
    "s": ("{0}", "{0}"),  # a string, or an array of them: Fortran passes its length, behind all others
    "a": ("{0}", "*{0}"),  # a size of memory
    "i": ("{0}", "*{0}"),
    "t": ("{0}", "PMPI_Type_f2c(*{0})"),
    "c": ("{0}", "PMPI_Comm_f2c(*{0})"),
    "o": ("{0}", "PMPI_Op_f2c(*{0})"),
    "w": ("{0}", "PMPI_Win_f2c(*{0})"),
    "g": ("{0}", "PMPI_Group_f2c(*{0})"),
    "m": ("lr_message", "lr_message"),  # a message that is taken
    "M": ("*{0}", "PMPI_Message_f2c(*{0})"),  # one that is given
    "R": ("*{0}", "PMPI_Request_f2c(*{0})"),  # a request that is made
    "Q": ("lr_before", "lr_before"),  # one that may be completed
    "A": ("lr_before", "lr_before"),  # an array of them
    "S": ("lr_status", "lr_status"),
    "T": ("lr_statuses", "lr_statuses"),
    "f": ("*{0}", "*{0}"),
    "x": ("lr_index", "lr_index"),  # which of several; Fortran counts from 1
    "X": ("lr_indices", "lr_indices"),
    "n": ("(*{0} == MPI_UNDEFINED ? 0 : *{0})", "(*{0} == MPI_UNDEFINED ? 0 : *{0})"),
    "C": ("*{0}", "PMPI_Comm_f2c(*{0})"),  # a communicator that is made
    "D": ("lr_gone", "lr_gone"),  # one that is freed, as a number
    "W": ("*{0}", "PMPI_Win_f2c(*{0})"),
    "V": ("lr_window", "lr_window"),  # a window that is freed, as a number
    "I": ("{0}", "{0}"),  # an array of counts
    "y": ("&{0}", "(MPI_Datatype[]){{PMPI_Type_f2c(*{0})}}"),  # the type of all of them
    "Y": ("{0}", "lr_types_{0}"),  # each one's type
}
Row = tuple[str, list[tuple[str, str]], str]  # name, parameters with their letters, note
COLLECTIVES = ("lr_collective", "lr_blocks", "lr_reduce_blocks")
FORTRAN = ("{}_{}_", "{}_{}_f08_", "{}_{}_f08ts_")
POINTER = "{}_{}_cptr_"  # a name more of those that give memory as a type(c_ptr)
GIVE_MEMORY = ("Win_allocate", "Win_allocate_shared")
# Open MPI 4 has the persistent collectives of MPI 4 in a header of its own, as MPIX_Bcast_init and so on.
HEADERS = "#include <mpi.h>\n#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n"


def rows(path: Path) -> list[Row]:
    """Name, parameters with their letters, and note of each call."""
    found = []
    for line in path.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        head, note = line.split(" -> ")
        name, *parameters = head.split()
        pairs = [each.partition(":") for each in parameters]
        found.append((name, [(each, letter) for each, _, letter in pairs], note))
    return found


def header(compiler: str, includes: list[str]) -> str:
    """mpi.h and what belongs to it with all that they include, as the compiler sees them."""
    flags = [f"-I{each}" for each in includes]
    text = subprocess.run(
        [compiler, *flags, "-E", "-P", "-x", "c", "-"],
        input=HEADERS,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)


def weak(text: str) -> str:
    """Objects of the MPI that need not be there: launchers and shells have the library preloaded, too."""
    names = re.findall(r"\bextern\s+(?:struct\s+)?\w+\s+\**(\w+)\s*;", text)
    return "".join(f"#pragma weak {name}\n" for name in names if name.startswith(("ompi_", "MPI_", "MPIR_")))


def prototypes(text: str) -> dict[str, list[str]]:
    """The types of the parameters of every function of mpi.h, with a place for the name: "const int %s[]"."""
    found = {}
    for match in re.finditer(r"\bint\s+(MPIX?_\w+)\s*\(([^;{}]*)\)\s*;", text):
        parameters = [" ".join(each.split()) for each in match[2].split(",")]
        found[match[1]] = [re.sub(r"(\w+)(\s*(?:\[[^\]]*\])*)$", r"%s\2", each) for each in parameters]
    return found


class Body:
    """What stands around the call in a frame: lines before it and after it, and the arguments passed on."""

    def __init__(self, row: Row, fortran: bool) -> None:
        """Of a row of calls.txt."""
        name, parameters, note = row
        self.call = name
        self.fortran = fortran
        self.neighbours = "eighbor" in name
        self.names = {letter: name for name, letter in parameters}
        self.before: list[str] = []
        self.read: list[str] = []  # what the call gave
        self.freed: list[str] = []
        self.passed: list[str] = []
        values = {}
        for name, letter in parameters:
            values[name] = VALUES[letter][fortran].format(name)
            self.passed.append(name)
            if special := getattr(self, f"_{letter}", None):
                special(name)
        self.said = re.sub(r"\{(\w+)\}", lambda match: values[match[1]], note)
        arrays = [each for each in ("lr_before", "lr_statuses", "lr_indices") if "A" in self.names]
        arrays += [f"lr_types_{each}" for each, letter in parameters if letter == "Y" and fortran]
        self.guard = " && ".join(each for each in arrays if each in self.said)

    def _taken(self, name: str, kind: str, place: str = "") -> str:
        """The value of a handle that stands at an address."""
        value = f"{name}{place}" if place else f"*{name}"
        return f"PMPI_{kind}_f2c({value})" if self.fortran else value

    def _Q(self, name: str) -> None:
        self.before.append(f"const MPI_Request lr_request_was = {self._taken(name, 'Request')};")
        self.before.append("const int64_t lr_before[1] = {lr_handle(lr_request_was)};")
        self.before.append("(void)lr_before;")

    def _A(self, name: str) -> None:
        many = f"(*{self.names['i']})" if self.fortran else self.names["i"]
        self.before.append(f"const int lr_count = {many} > 0 ? {many} : 0;")
        self.before.append("int64_t lr_few[64];")
        self.before.append("int64_t *lr_before = lr_count > 64 ? malloc(8 * (size_t)lr_count) : lr_few;")
        taken = self._taken(name, "Request", "[i]")
        self.before.append(
            f"for (int i = 0; lr_before && i < lr_count; ++i) lr_before[i] = lr_handle({taken});"
        )
        self.freed.append("if (lr_before != lr_few) free(lr_before);")

    def _m(self, name: str) -> None:
        self.before.append(f"const MPI_Message lr_message = {self._taken(name, 'Message')};")

    def _D(self, name: str) -> None:
        self.before.append(f"const int64_t lr_gone = lr_comm_handle({self._taken(name, 'Comm')});")

    def _V(self, name: str) -> None:
        self.before.append(f"const int64_t lr_window = lr_win_handle({self._taken(name, 'Win')});")

    def _S(self, name: str) -> None:
        if self.fortran:
            self.before.append("MPI_Fint lr_own[LR_STATUS_WORDS];")
            self.before.append("MPI_Status lr_seen, *lr_status = &lr_seen;")
            self.before.append(f"if (lr_ignored({name})) {name} = lr_own;")
            self.read.append(f"PMPI_Status_f2c({name}, &lr_seen);")
            return
        self.before.append(f"MPI_Status lr_own, *lr_status = {name} == MPI_STATUS_IGNORE ? &lr_own : {name};")
        self.passed[-1] = "lr_status"

    def _T(self, name: str) -> None:
        words = "LR_STATUS_WORDS * " if self.fortran else ""
        kind = "MPI_Fint" if self.fortran else "MPI_Status"
        ignored = f"lr_all_ignored({name})" if self.fortran else f"{name} == MPI_STATUSES_IGNORE"
        self.before.append(f"{kind} lr_some[{words}64];")
        self.before.append(
            f"{kind} *lr_kept = !({ignored}) ? {name} : lr_count <= 64 ? lr_some : "
            f"malloc({words}sizeof *lr_kept * (size_t)lr_count);"
        )
        self.passed[-1] = f"lr_kept ? lr_kept : {name}"
        if self.fortran:
            self.before.append("MPI_Status lr_few_seen[64];")
            self.before.append(
                "MPI_Status *lr_statuses = lr_count <= 64 ? lr_few_seen : "
                "malloc(sizeof *lr_statuses * (size_t)lr_count);"
            )
            self.read.append(
                "for (int i = 0; lr_kept && lr_statuses && i < lr_count; ++i) "
                "PMPI_Status_f2c(lr_kept + LR_STATUS_WORDS * i, lr_statuses + i);"
            )
            self.freed.append("if (lr_statuses != lr_few_seen) free(lr_statuses);")
        else:
            self.before.append("MPI_Status *const lr_statuses = lr_kept;")
        self.freed.append(f"if (lr_kept != {name} && lr_kept != lr_some) free(lr_kept);")

    def _base(self, done: str, name: str) -> str:
        """From which number indices count, as an expression to take away; Fortran's must be found out."""
        if not self.fortran:
            return ""
        self.before.append("static int lr_kept_base = 1;")
        requests = self.names["A"]
        self.read.append(
            f"const int lr_one = lr_base(&lr_kept_base, lr_count, lr_before, {requests}, {done}, {name});"
        )
        return " - lr_one"

    def _Y(self, name: str) -> None:
        if not self.fortran:
            return
        comm = VALUES["c"][1].format(self.names["c"])
        gives = name.startswith("send")
        array = name
        if gives and not self.neighbours:  # in place it may be anything
            array = f"lr_in_place(sendbuf) ? {name.replace('send', 'recv')} : {name}"
        words = f"{array}, {comm}, {str(self.neighbours).lower()}, {str(gives).lower()}"
        self.read.append(f"MPI_Datatype *lr_types_{name} = lr_types({words});")
        self.freed.append(f"free(lr_types_{name});")

    def _x(self, name: str) -> None:
        one = self._base(f"*{name} != MPI_UNDEFINED", name)
        self.read.append(
            f"const int lr_index[1] = {{*{name} == MPI_UNDEFINED ? MPI_UNDEFINED : *{name}{one}}};"
        )

    def _X(self, name: str) -> None:
        many = self.names["n"]
        one = self._base(f"*{many} == MPI_UNDEFINED ? 0 : *{many}", name)
        self.before.append("int lr_few_indices[64];")
        self.before.append(
            "int *lr_indices = lr_count <= 64 ? lr_few_indices : malloc(sizeof(int) * (size_t)lr_count);"
        )
        self.read.append(
            f"for (int i = 0; lr_indices && i < *{self.names['n']}; ++i) lr_indices[i] = {name}[i]{one};"
        )
        self.freed.append("if (lr_indices != lr_few_indices) free(lr_indices);")

    @property
    def first(self) -> str:
        """The lines before the call."""
        return "\n        ".join(self.before)

    @property
    def last(self) -> str:
        """The lines after it."""
        said = f"if ({self.guard}) {self.said};" if self.guard else f"{self.said};"
        if "sendbuf" in self.passed and self.said.startswith(COLLECTIVES):
            buffer = "recvbuf" if "LR_SCATTER" in self.said else "sendbuf"
            said = f"{{ lr_call.in_place = lr_in_place({buffer}); {said} }}"
        failed = f'lr_outside("MPI_{self.call} that returned an error");'
        noted = f"if (lr_code != MPI_SUCCESS) {failed}\n        else {said}"
        return "\n        ".join([*self.read, noted, *self.freed])

    @property
    def arguments(self) -> str:
        """What is passed on."""
        return ", ".join(self.passed)


def _local(kind: str, name: str, word: str) -> str:
    """A parameter of a type of mpi.h, arrays as addresses, from the word that was passed."""
    array = re.search(r"%s(\[[^\]]*\])(.*)", kind)
    if array and array[2]:
        kind = f"{kind[: array.start()]}(*%s){array[2]}"
    elif array:
        kind = f"{kind[: array.start()]}*%s"
    return f"{kind % name} = ({(kind % '').strip()}){word};"


# Calls that mostly find nothing, again and again.
POLLS = ("Test", "Testall", "Testany", "Testsome", "Iprobe", "Improbe", "Request_get_status", "Win_test")


def entered(name: str) -> str:
    """What a wrapper asks before its call."""
    return "lr_enter_poll" if name in POLLS else "lr_enter"


def left(name: str) -> str:
    """What it says after it; a poll's time is taken only where it is needed."""
    return "" if name in POLLS else "lr_leave(&lr_call);"


def c_frame(row: Row, types: list[str], prefix: str = "MPI") -> str:
    """The wrapper of C's name.

    Parameters come and are passed on as whole words (in the System V and AArch64 calling conventions each has
    a register or a slot of the stack of its own), so that a program of an MPI with handles of another size,
    which is not recorded, gets what it passed.
    """
    name, parameters, _ = row
    words = [f"lr_{number}" for number in range(len(parameters))]
    declared = ", ".join(f"intptr_t {word}" for word in words) or "void"
    body = Body(row, fortran=False)
    used = {
        each: _local(kind, each, word) for kind, (each, _), word in zip(types, parameters, words, strict=True)
    }
    # What only the call takes is passed on as it came.
    rest = "\n".join([*body.before, *body.read, body.last])
    locals_ = [line for each, line in used.items() if re.search(rf"\b{each}\b", rest)]
    passed = [
        word if argument == each else f"(intptr_t)({argument})"
        for word, (each, _), argument in zip(words, parameters, body.passed, strict=True)
    ]
    first = "\n        ".join([*locals_, body.first])
    kinds = ", ".join(["intptr_t"] * len(words)) or "void"
    return f"""
LR_SEEN int lr_in_{prefix}_{name}({declared}) __asm__("{prefix}_{name}");
int lr_in_{prefix}_{name}({declared}) {{
    static int (*lr_real)({kinds}) = (int (*)({kinds}))(void (*)(void))P{prefix}_{name};
    LR_CALL(lr_call);
    if (!{entered(name)}(&lr_call, __builtin_return_address(0))) return lr_real({", ".join(words)});
    {{
        {first}
        const int lr_code = lr_real({", ".join(passed)});
        {left(name)}
        {body.last}
        lr_end();
        return lr_code;
    }}
}}
"""


def fortran_frames(row: Row, prefix: str) -> str:
    """The wrappers of Fortran's names: everything is an address, the result the last of them."""
    name, parameters, _ = row
    body = Body(row, fortran=True)
    frames = ""
    # Buffers, and arrays of counts that no frame reads, may be anything.
    kinds = {"b": "void *", "s": "void *", "I": "int *", "a": "MPI_Aint *"}
    lengths = [f"lr_length_of_{each}" for each, letter in parameters if letter == "s"]
    behind = "".join(f", {each}" for each in lengths)
    behind_declared = "".join(f", size_t {each}" for each in lengths)
    declared = ", ".join(f"{kinds.get(letter, 'MPI_Fint *')}{each}" for each, letter in parameters)
    plain = ", ".join(each for each, _ in parameters)
    comma = ", " if parameters else ""
    types = ", ".join(kinds.get(letter, "MPI_Fint *") for _, letter in parameters)
    for pattern in (*FORTRAN, POINTER) if name in GIVE_MEMORY else FORTRAN:
        symbol = pattern.format(prefix.lower(), name.lower())
        # Buffers of "f08ts" are descriptors, which begin with the address.
        described = r"lr_in_place(*(void *const *)\1)" if pattern.endswith("ts_") else r"lr_in_place(\1)"
        last = re.sub(r"lr_in_place\((\w+)\)", described, body.last)
        frames += f"""
LR_SEEN void {symbol}({declared}{comma}MPI_Fint *lr_error{behind_declared}) {{
    static void (*real)({types}{comma}MPI_Fint *{", size_t" * len(lengths)});
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "{symbol}");
    LR_CALL(lr_call);
    if (!{entered(name)}(&lr_call, __builtin_return_address(0))) {{
        real({plain}{comma}lr_error{behind});
        return;
    }}
    {{
        {body.first}
        MPI_Fint lr_code = MPI_SUCCESS;
        real({body.arguments}{comma}&lr_code{behind});
        {left(name)}
        {last}
        lr_end();
        if (lr_error) *lr_error = lr_code;
    }}
}}
"""
    return frames


def large_row(row: Row) -> Row:
    """The call whose counts are MPI_Count."""
    name, parameters, note = row
    return f"{name}_c", parameters, note.replace("_blocks(", "_blocks_c(")


def main(output: str, compiler: str, *includes: str) -> None:
    """Write the wrappers of what both calls.txt and the headers have."""
    text = header(compiler, list(includes))
    known = prototypes(text)
    Path(output).with_name("weak.h").write_text(weak(text))
    # An array of statuses that the program ignores is passed on where memory for another lacks.
    parts = [f'{HEADERS}#include "frames.h"\n#pragma GCC diagnostic ignored "-Wstringop-overflow"\n']
    for row in rows(Path(__file__).with_name("calls.txt")):
        for prefix in ("MPI", "MPIX"):
            types = known.get(f"{prefix}_{row[0]}", [])
            if types and len(types) != len(row[1]):
                sys.exit(
                    f"calls.txt has {len(row[1])} parameters of {prefix}_{row[0]}, mpi.h has {len(types)}"
                )
            if types:
                parts.append(c_frame(row, types, prefix))
            if types and "MPI_ABI_Comm" not in text:  # the standard ABI is C's alone
                parts.append(fortran_frames(row, prefix))
        if large := known.get(f"MPI_{row[0]}_c"):
            parts.append(c_frame(large_row(row), large))
    Path(output).write_text("".join(parts))


if __name__ == "__main__":
    main(*sys.argv[1:])
