from telha_planner.server.quota import KEYS, Quota


def test_no_quota_never_refuses():
    """C9: 0 means unlimited."""
    quota = Quota(0)
    assert all(quota.spend("k", 0.0) == 0 for _ in range(1000))


def test_a_key_spends_its_minute_then_its_steady_rate():
    """C9: each surface has its own quota per key."""
    quota = Quota(60)
    assert [quota.spend("k", 100.0) for _ in range(60)] == [0] * 60
    assert quota.spend("k", 100.0) == 1000
    assert quota.spend("k", 100.5) == 500
    assert quota.spend("k", 101.0) == 0
    assert quota.spend("other", 101.0) == 0


def test_the_wait_that_is_named_is_enough():
    """A9: the wait that is named is enough."""
    quota = Quota(7)
    while not (wait := quota.spend("k", 5.0)):
        pass
    assert quota.spend("k", 5.0 + (wait + 1) / 1000) == 0


def test_buckets_are_bounded():
    """A9: buckets are bounded."""
    quota = Quota(1)
    for key in range(KEYS + 10):
        quota.spend(str(key), 0.0)
    assert len(quota._buckets) == KEYS
