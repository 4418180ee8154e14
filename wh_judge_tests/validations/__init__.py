"""Tests of the validations. `states` builds logs with sound claims about them, `damages` lists what must be caught."""
