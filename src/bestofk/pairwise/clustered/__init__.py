"""Tests on instances that belong together in clusters: passages, repositories, templates."""
