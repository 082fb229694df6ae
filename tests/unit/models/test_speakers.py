"""Names as ids, and how questions meet them."""

import pytest
from telha_planner.models.analysis import term_counts, term_id
from telha_planner.models.speakers import WHOLE, name_ids, speaker_id, together


def share(name: str, question: str) -> float:
    """How much of *name* stands in *question*."""
    ids = name_ids(name)
    asked = {speaker_id(term) for term in term_counts(question)}
    return len(ids.keys() & asked) / len(ids)


@pytest.mark.parametrize(
    ("name", "question", "named"),
    [
        ("Ana", "What did ANA say?", 1.0),
        ("Ana", "What did Anabela say?", 0.0),
        ("Anna Müller", "When did Anna Müller call?", 1.0),
        ("Anna Müller", "When did Anna call?", 0.5),
        ("O’Brien", "Since when o'clock?", 0.0),
        ("J. Smith", "What does Smith like?", 1.0),
        ("anna_b", "What does Anna like?", 0.5),
        ("小明", "小明几点去车站？", 1.0),
        ("小明", "明天几点去车站？", 0.0),
        ("王小明", "昨天小明去了哪里", 0.5),
        ("李雷", "韩梅梅和李雷说了什么", 1.0),
        ("田中さん", "田中さんは何を食べましたか", 1.0),
        ("田中さん", "山田さんは何を食べましたか", 0.0),
        ("田中さん", "昨日、田中は何を食べましたか", 0.5),
        ("さくら", "さくらはどこに行きましたか", 1.0),
        ("マリア", "マリアさんの趣味は？", 1.0),
        ("김민수", "민수는 어디에 갔어요?", 0.5),
        ("สมชาย", "สมชายไปไหน", 1.0),
        ("עומר", "מה אמר עומר?", 1.0),
        ("👩‍🌾", "What did 👩‍🌾 say?", 1.0),
        ("王", "王说了什么", 1.0),
    ],
)
def test_a_question_names_a_speaker(name: str, question: str, named: float) -> None:
    """R2: by the words of the name, by the pairs of its characters where no spaces are."""
    assert share(name, question) == pytest.approx(named)


def test_ids_tell_their_share_of_the_name() -> None:
    """R2: so that how much of a name was named can be told from the postings alone, exactly."""
    assert [*name_ids("Anna Maria Müller").values()] == [WHOLE / 3] * 3
    assert [*name_ids("王小明").values()] == [WHOLE / 2] * 2
    assert name_ids("—") == {}
    assert {*name_ids(" ".join(f"name{number}" for number in range(3000))).values()} == {1}


def test_several_turns_have_the_mean_of_their_shares() -> None:
    """R2: two turns of three by Ana are two thirds of a window's."""
    ana, ben = name_ids("Ana"), name_ids("Ben Maier")
    both = together([ana, ben, ana])
    assert {both[name] for name in ana} == {WHOLE * 2 // 3}
    assert {both[name] for name in ben} == {WHOLE // 6}
    assert together([{}, {}]) == {}


def test_no_text_gives_such_an_id() -> None:
    """R2: what is searched for among words is never found by who speaks."""
    assert not name_ids("Ana").keys() & term_counts("Ana speaker ana \x00speaker ÿspeaker").keys()
    assert speaker_id(term_id("ana")) in name_ids("Ana")
    assert speaker_id(0) != speaker_id(2**64 - 1)


def test_ids_never_change() -> None:
    """M2, S13: they are stored; another value is another `INGEST_VERSION`."""
    assert [f"{name:016x}" for name in name_ids("Ana")] == ["20433df8082400e3"]
