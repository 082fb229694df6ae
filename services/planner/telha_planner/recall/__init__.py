"""Phase A: finds nodes, scores them and explodes them into spans."""
