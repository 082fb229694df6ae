"""Process plumbing that every service shares: settings, logs, Redis, supervision, the stream frame. Knows no domain."""
