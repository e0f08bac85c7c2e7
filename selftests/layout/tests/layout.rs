// SPDX-License-Identifier: GPL-2.0

//! Every layout against the kernel's header, as KTAP: a test a layout.

use std::path::Path;
use std::process::ExitCode;

use mlx5_prm_layout::check::{check, Report, Verdict};
use mlx5_prm_layout::header::Header;
use mlx5_prm_layout::prm::registry;

fn main() -> ExitCode {
    let reports = Header::from_env(Path::new(env!("CARGO_TARGET_TMPDIR")))
        .and_then(|header| check(&header, registry::ALL));
    let reports = match reports {
        Ok(reports) => reports,
        Err(reason) => {
            println!("Bail out! {reason}");
            return ExitCode::FAILURE;
        }
    };

    println!("KTAP version 1\n1..{}", reports.len());
    for (i, report) in reports.iter().enumerate() {
        print(i + 1, report);
    }
    summary(&reports)
}

fn print(number: usize, report: &Report) {
    let wrong = report.wrong();
    for line in &wrong {
        println!("# {}: {line}", report.name);
    }
    let verdict = if wrong.is_empty() { "ok" } else { "not ok" };
    println!(
        "{verdict} {number} {}: {} of {} fields compared with {}",
        report.name,
        report.compared(),
        report
            .fields
            .iter()
            .filter(|(name, _)| !name.is_empty())
            .count(),
        match report.structure {
            "" => "nothing, since the header has no such structure",
            structure => structure,
        },
    );
}

fn summary(reports: &[Report]) -> ExitCode {
    let (mut lacking, mut known) = (0, 0);
    for report in reports {
        for (field, verdict) in &report.fields {
            match verdict {
                Verdict::Lacking(source) => {
                    lacking += 1;
                    println!("# lacking: {}.{field}: {source}", report.name);
                }
                Verdict::Known(text, reason) => {
                    known += 1;
                    println!("# known: {}.{field}: {text}: {reason}", report.name);
                }
                Verdict::Same | Verdict::Wrong(_) => {}
            }
        }
    }
    let compared: usize = reports.iter().map(Report::compared).sum();
    let wrong: usize = reports.iter().map(|report| report.wrong().len()).sum();
    println!(
        "# {compared} fields compared, {wrong} differences; {lacking} fields that the header \
         lacks; {known} known differences"
    );

    if wrong == 0 && compared > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
