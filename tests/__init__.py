"""Tests of Trimtab; they mirror the modules they test."""
