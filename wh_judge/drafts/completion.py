"""What is read of a chat completion, wherever it comes from."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from wh_judge.drafts.cache import Answer


def read_completion(document: Any) -> Answer:
    """The answer that a chat completion holds.

    Args:
        document: JSON in the form of OpenAI's chat completions.

    Raises:
        pydantic.ValidationError: it is none.
    """
    completion = _Completion.model_validate(document)
    choice, usage = completion.choices[0], completion.usage
    return Answer(
        raw=choice.message.content or choice.message.refusal or "",
        cut_off=choice.finish_reason == "length",
        prompt_tokens=usage.prompt_tokens,
        response_tokens=usage.completion_tokens,
    )


def whole(text: str) -> str:
    """A text that can be kept: half of a surrogate pair, which JSON can hold, is none."""
    return text.encode(errors="replace").decode()


_Text = Annotated[str | None, BeforeValidator(lambda value: whole(value) if isinstance(value, str) else value)]
_Tokens = Annotated[int, Field(ge=0, le=10**12), BeforeValidator(lambda value: 0 if value is None else value)]


class _Message(BaseModel):
    content: _Text = None
    refusal: _Text = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: _Tokens = 0
    completion_tokens: _Tokens = 0


class _Completion(BaseModel):
    choices: Annotated[list[_Choice], Field(min_length=1)]
    usage: Annotated[_Usage, BeforeValidator(lambda value: {} if value is None else value)] = _Usage()
