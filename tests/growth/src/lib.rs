//! Tests of hosts with an earlier interface against a component with a larger one.
