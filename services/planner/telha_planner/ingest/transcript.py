"""
Transcripts in plain text: who speaks, where each turn begins with `Name: `.

A name is up to four words before a colon at the beginning of a line, perhaps behind a time ("[10:32] Anna: …"). What
is written so need not be speech: `Note: …`, `https://…`, `total: 3`, fields of a record. A text is a transcript only
if all of this holds:

- two names or more each begin two lines or more, and these are at least `_FEWEST_TURNS` lines;
- three quarters of all lines with a label have one of these names: labels are few, and come again;
- they begin half of the lines, or half of the paragraphs;
- three names or more do not follow one another in one fixed order all the time, as the fields of records do.

In a transcript every label begins a turn, so that a guest who speaks once is heard too.

Rule 1: the first `_HEAD` characters decide, so that the work is bounded and what is said later changes nothing.
Rule 2: words that label remarks, log lines and mail headers are no names.
"""

import re
from collections import Counter

from telha_planner.models.characters import folded
from telha_planner.models.speakers import name_ids

from .document import WHITE_SPACE

_HEAD = 1 << 20
_FEWEST_TURNS = 4
_MOST_LABELS = 256
_SHARE_OF_LABELS = 0.75
_SHARE_OF_LINES = 0.5
_MOST_WORDS = 4

# What a name is not made of is listed, not what it is made of, so that no table of the interpreter's decides.
_SPACE = re.escape(WHITE_SPACE)
_NEVER = re.escape('\n:：/\\<>{}[]()=;"`|*#@$%^~+?!,。，、！？；“”「」『』（）【】《》…—')
_LABEL = re.compile(
    r"(?:[\[(]?[0-9][0-9/:.,\- ]{2,30}(?:[AaPp][Mm])?[\])]?[ \t]*(?:[-–—][ \t]*)?)?"
    rf"(?P<name>[^{_NEVER}{_SPACE}0-9.'&_\-][^{_NEVER}]{{0,31}}?) ?"
    rf"(?::(?=[ \t]+[^{_SPACE}]|[^\x00-\x7f{_SPACE}])|：(?=[ \t\u3000]*[^{_SPACE}]))"
)
_REMARKS = """
    note notes nb ps todo fixme xxx hack bug warning warn info debug error trace fatal critical notice hint tip example
    see from to cc bcc subject date time sent re fwd reply-to http https ftp mailto file update edit summary title name
    nota aviso atenção exemplo assunto data achtung hinweis beispiel betreff datum remarque objet
    注 注意 备注 注释 提示 警告 例 示例 时间 日期 主题 标题 備考 注記 例え 日時 件名 参考
    """
_NO_NAMES = frozenset(_REMARKS.split())


def is_transcript(text: str) -> bool:
    """Whether *text* (lines ended by LF) is one."""
    labels: list[str] = []
    begun: list[str] = []
    told: Counter[str] = Counter()
    lines = paragraphs = 0
    blank = True
    for line in text[:_HEAD].split("\n"):
        if not line.strip(WHITE_SPACE):
            blank = True
            continue
        lines += 1
        paragraphs += blank
        name = name_at(line, 0)
        if name is not None:
            labels.append(name)
            told[name] += 1
            begun += [name] * blank
            if len(told) > _MOST_LABELS:
                return False
        blank = False
    names = {name for name, count in told.items() if count > 1}
    turns = sum(name in names for name in labels)
    begun_by_names = sum(name in names for name in begun)
    return (
        len(names) > 1
        and turns >= max(_FEWEST_TURNS, _SHARE_OF_LABELS * len(labels))
        and (turns >= _SHARE_OF_LINES * lines or begun_by_names >= max(_FEWEST_TURNS, _SHARE_OF_LINES * paragraphs))
        and not _are_fields(labels, len(told))
    )


def name_at(text: str, position: int) -> str | None:
    """The name before a colon that the line at *position* of *text* begins with, or None."""
    match = _LABEL.match(text, position)
    if match is None:
        return None
    name = match["name"].strip(WHITE_SPACE)
    if len(name.split(" ")) > _MOST_WORDS or folded(name) in _NO_NAMES or not name_ids(name):
        return None
    return name


def _are_fields(labels: list[str], distinct: int) -> bool:
    """Whether *labels* are one sequence of three or more, said again and again."""
    return distinct > 2 and labels[distinct:] == labels[:-distinct]
