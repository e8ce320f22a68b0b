//! Processes of the test's own: the test program runs itself again, with one test selected and its part in the environment.
