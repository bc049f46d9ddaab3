//! How random the orders of our own are. The battery is a list of findings, each a statistic against the range that it
//! has under truly random permutations with a probability of about 1 - 6e-7 (five standard deviations). Seeds are fixed, so
//! the outcome is too. Deliberately weak orders must fail it, so that we know that it can.

mod battery;
mod stats;
mod weak;

use battery::{Finding, Source};
use samedeal_core::{Order, OrderId};

fn source(id: OrderId) -> impl Source {
    move |samples, seed, epoch| {
        let order = Order::new(id, samples, seed, epoch).unwrap();
        Box::new(move |position| order.sample(position).unwrap()) as Box<dyn Fn(u64) -> u64>
    }
}

fn failed(findings: &[Finding]) -> Vec<&Finding> {
    findings.iter().filter(|finding| !finding.holds()).collect()
}

#[test]
#[ignore = "takes a while; `cargo xtask check` runs it"]
fn feistel_is_indistinguishable_from_random() {
    let findings = battery::run(&source(OrderId::Feistel), &battery::SIZES);
    assert!(findings.len() > 100, "the battery ran {} checks", findings.len());
    assert!(failed(&findings).is_empty(), "{:#?}", failed(&findings));
}

#[test]
#[ignore = "takes a while; `cargo xtask check` runs it"]
fn fisher_yates_is_indistinguishable_from_random() {
    let findings = battery::run(&source(OrderId::FisherYates), &[6, 257, 10_000]);
    assert!(failed(&findings).is_empty(), "{:#?}", failed(&findings));
}

/// Every kind of check fails on at least one order that deserves it.
#[test]
#[ignore = "takes a while; `cargo xtask check` runs it"]
fn weak_orders_fail() {
    let sizes = [6, 257, 10_000, 1_000_000];
    let weak: [(&str, Vec<Finding>); 4] = [
        ("affine", battery::run(&weak::affine, &sizes)),
        ("two rounds", battery::run(&weak::rounds(2), &sizes)),
        ("three rounds", battery::run(&weak::rounds(3), &sizes)),
        ("seed plus epoch", battery::run(&weak::adding(source(OrderId::Feistel)), &sizes)),
    ];
    for (name, findings) in &weak {
        assert!(!failed(findings).is_empty(), "{name} passed everything");
    }
    let mut kinds: Vec<_> = weak[0].1.iter().map(|finding| finding.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for kind in kinds {
        let caught = weak.iter().any(|(_, findings)| failed(findings).iter().any(|finding| finding.kind == kind));
        assert!(caught, "{kind} fails on none of the weak orders");
    }
}
