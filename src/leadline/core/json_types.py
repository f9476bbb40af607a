"""What JSON can hold, for what is read from a file or written to one: narrow it where it is used."""

from collections.abc import Mapping, Sequence

JsonValue = bool | int | float | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"] | None
JsonObject = Mapping[str, JsonValue]
