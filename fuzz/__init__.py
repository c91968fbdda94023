"""Hostile input for every door of adamerge: seeded mutations of small examples, in processes with limits."""
