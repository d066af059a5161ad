//! What became of all cases, as a table: operation by fault.

use std::collections::BTreeMap;
use std::fmt;

use super::sweep::{Report, Verdict};

/// One cell: how many sat out, told and broken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Cell {
    sat_out: usize,
    told: usize,
    broken: usize,
}

#[derive(Debug, Default)]
pub struct Table {
    operations: Vec<String>,
    faults: Vec<String>,
    cells: BTreeMap<(String, String), Cell>,
}

impl Table {
    pub fn note(&mut self, report: &Report) {
        let Report { case, verdict, .. } = report;
        self.count(case.operation.name, case.fault.name(), verdict);
    }

    pub fn count(&mut self, operation: &str, fault: &str, verdict: &Verdict) {
        for (list, name) in [(&mut self.operations, operation), (&mut self.faults, fault)] {
            if !list.iter().any(|it| it == name) {
                list.push(name.to_owned());
            }
        }
        let cell = self.cells.entry((operation.to_owned(), fault.to_owned())).or_default();
        match verdict {
            Verdict::SatOut => cell.sat_out += 1,
            Verdict::Told(_) => cell.told += 1,
            Verdict::Broken(_) => cell.broken += 1,
        }
    }

    pub fn cases(&self) -> usize {
        self.sum().sat_out + self.sum().told + self.sum().broken
    }

    pub fn broken(&self) -> usize {
        self.sum().broken
    }

    fn sum(&self) -> Cell {
        self.cells.values().fold(Cell::default(), |sum, cell| Cell {
            sat_out: sum.sat_out + cell.sat_out,
            told: sum.told + cell.told,
            broken: sum.broken + cell.broken,
        })
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("{}", self.sat_out);
        if self.told > 0 {
            text.push_str(&format!("+{}", self.told));
        }
        if self.broken > 0 {
            text.push_str(&format!("!{}", self.broken));
        }
        f.pad(&text)
    }
}

/// `5+2!1`: five runs sat the fault out, two told of it and the next run settled it, one broke
/// what must hold.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut operations = self.operations.clone();
        operations.sort();
        let mut faults = self.faults.clone();
        faults.sort();
        let first = operations.iter().map(String::len).max().unwrap_or_default();
        let cell = |operation: &String, fault: &String| {
            let cell = self.cells.get(&(operation.clone(), fault.clone()));
            cell.map_or_else(|| "·".to_owned(), Cell::to_string)
        };
        let columns: Vec<(&String, usize)> = faults
            .iter()
            .map(|fault| {
                let cells = operations.iter().map(|operation| cell(operation, fault));
                let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or_default();
                (fault, widest.max(fault.len()))
            })
            .collect();
        write!(f, "{:first$}", "")?;
        for (fault, width) in &columns {
            write!(f, "  {fault:>width$}")?;
        }
        writeln!(f)?;
        for operation in &operations {
            write!(f, "{operation:first$}")?;
            for (fault, width) in &columns {
                write!(f, "  {:>width$}", cell(operation, fault))?;
            }
            writeln!(f)?;
        }
        let Cell { sat_out, told, broken } = self.sum();
        write!(
            f,
            "{} cases: {sat_out} sat out, {told} told and settled by the next run, {broken} broken",
            self.cases()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_counts_what_was_sat_out_told_and_broken() {
        let mut table = Table::default();
        let told = Verdict::Told(String::new());
        for verdict in [Verdict::SatOut, Verdict::SatOut, told, Verdict::Broken(vec![])] {
            table.count("create", "500", &verdict);
        }
        table.count("delete", "503", &Verdict::SatOut);
        assert_eq!(
            table.to_string(),
            "          500  503\n\
             create  2+1!1    ·\n\
             delete      ·    1\n\
             5 cases: 3 sat out, 1 told and settled by the next run, 1 broken"
        );
        assert_eq!((table.cases(), table.broken()), (5, 1));
    }
}
