"""The JSON shape of a context as one text for a model to read."""

from typing import Annotated

from msgspec import Meta
from telha.context.v1 import context_pb2

from telha_gateway.dto.coordinates import SpanPlace, place
from telha_gateway.dto.shape import Given


class Citation(Given):
    """One passage of a prompt."""

    number: Annotated[int, Meta(description="Its number in the text, from 1, in the order of the items.")]
    item: Annotated[int, Meta(description="The place of its item in `items`, from 0.")]
    span: SpanPlace


class Prompt(Given):
    """The items as one text for a model to read."""

    format: Annotated[str, Meta(description="Version of the layout, for example `v1`.")]
    text: Annotated[
        str,
        Meta(
            description="An instruction, and the passages, numbered and fenced. Empty where no passage is shown.",
        ),
    ]
    tokens: Annotated[int, Meta(description="Tokens of the whole text; never more than the budget applied.")]
    tokenizer: Annotated[str, Meta(description="What counted them: an encoding, or `estimate`.")]
    citations: Annotated[list[Citation], Meta(description="The passages shown, by number.")]
    left_out: Annotated[
        list[SpanPlace], Meta(description="Spans of the plan that would have exceeded the budget, the least dense.")
    ]


def prompt_answer(message: context_pb2.BuildResponse) -> Prompt | None:
    """The JSON shape of the prompt in *message*, where one was asked for."""
    if not message.HasField("prompt"):
        return None
    prompt = message.prompt
    return Prompt(
        format=prompt.format,
        text=prompt.text,
        tokens=prompt.tokens,
        tokenizer=prompt.tokenizer,
        citations=[
            Citation(number=cited.number, item=cited.item, span=place(cited.span)) for cited in prompt.citations
        ],
        left_out=[place(span) for span in prompt.left_out],
    )
