//! Tests of the manual page.

use std::collections::BTreeSet;

fn page(test: &str) -> String {
    super::made("manual", test).remove("wit.md").unwrap()
}

#[test]
fn every_link_leads_to_a_heading() {
    let page = page("links");
    let headings: BTreeSet<&str> = page
        .lines()
        .filter(|line| line.starts_with('#'))
        .filter_map(|line| line.rsplit_once("{ #")?.1.strip_suffix(" }"))
        .collect();
    let links = |start| page.split(start).skip(1).filter_map(|rest| rest.split(['"', ')']).next());
    let targets: BTreeSet<&str> = links("href=\"#").chain(links("](#")).collect();
    assert_eq!(targets.difference(&headings).collect::<Vec<_>>(), Vec::<&&str>::new());
    // The tables link to every heading except those of methods.
    for anchor in &headings {
        assert!(anchor.split('.').count() == 3 || targets.contains(anchor), "{anchor}");
    }
}

#[test]
fn a_signature_links_to_its_types() {
    let page = page("signatures");
    assert!(page.contains(
        "<code>begin-of(step: <a href=\"#types.u53\">u53</a>) -&gt; result&lt;<a href=\"#steps.epoch-position\">epoch-position</a>, \
         <a href=\"#types.failure\">failure</a>&gt;</code>"
    ));
    assert!(page.contains("see [`sampling.sampler.layout`](#sampling.sampler.layout)"));
    assert!(!page.contains("self: "));
}
