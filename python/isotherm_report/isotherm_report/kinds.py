"""Kinds of results, as the cards of experiments tell them."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Kind:
    """`needs` are the fields that the card's sections ask for. "a.b": b of the object a; "a[].b":
    of each of a list, which may be empty; "a[+].b": of each of at least one."""
    name: str
    known_by: set   # fields that only results of this kind have all
    example: dict   # a result that is complete
    needs: tuple = ()
