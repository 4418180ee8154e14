"""Drafts: asked of a scripted server on loopback, and of a real model where one is built."""
