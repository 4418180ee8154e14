"""Tests of the rules, one file for each: tables of cases, one fact each, judged by both forms."""
