"""Affinity: which planner of several a client's calls go to. It grants nothing, and tells nothing of the secret."""

import pytest
from telha_client.connection import AFFINITY, target

ID, SECRET = "abcdefghijkl", "s" * 43
KEY = f"telha_{ID}_{SECRET}"


def affinity(key, told=None):
    return dict(target("planner:7340", key, None, 30.0, {}, affinity=told).metadata).get(AFFINITY)


def test_a_key_stays_with_one_planner():
    """A5: by default a hash of the key's id alone, so that neither id nor secret stand in a balancer's log."""
    own = affinity(KEY)
    assert own == affinity(f"telha_{ID}_{'t' * 43}")
    assert own != affinity(f"telha_bbcdefghijkl_{SECRET}")
    assert own.isalnum()
    assert ID not in own
    assert SECRET not in own


def test_a_caller_may_name_it():
    """A5: keys of one tenant are kept together by its name."""
    assert affinity(KEY, "acme") == affinity(KEY.replace("a", "c"), "acme") == "acme"


def test_a_credential_of_another_kind_sends_none():
    """A6: nothing is made of what may be all secret; the balancer goes by the credential then."""
    assert affinity("eyJhbGciOiJIUzI1NiJ9.e30.c2ln") is None


@pytest.mark.parametrize("told", ["", "two words", "straße", "a\n", "a" * 256])
def test_what_cannot_be_sent_is_refused(told):
    """A5: at once, and not by the transport at the first call."""
    with pytest.raises(ValueError, match="visible ASCII"):
        affinity(KEY, told)
