//! A verdict depends only on the kernel and the solver's version, not on answers of the solver that were kept from an
//! earlier run. It therefore does not depend on earlier questions to the solver. Covers a tenth of the corpus, or all
//! of it with `WARPPROOF_FULL`.

mod support;

use allsizes::Options;
use smt::AnswerStore;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use support::solver;
use testing::corpus::names_in;

/// Answers in memory.
#[derive(Clone, Debug, Default)]
struct Notebook(Arc<Mutex<BTreeMap<String, String>>>);

impl AnswerStore for Notebook {
    fn look_up(&self, question: &str) -> Option<String> {
        self.0.lock().unwrap().get(question).cloned()
    }

    fn store(&self, question: &str, answer: &str) {
        self.0.lock().unwrap().insert(question.to_owned(), answer.to_owned());
    }
}

impl Notebook {
    fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// Every second answer.
    fn every_second(&self, odd: usize) -> Self {
        let kept = self.0.lock().unwrap();
        let half = kept.iter().skip(odd).step_by(2).map(|(one, two)| (one.clone(), two.clone()));
        Self(Arc::new(Mutex::new(half.collect())))
    }
}

/// The answer to every kernel of a text, with the solver's answers in a notebook.
fn answers(text: &str, notebook: Option<&Notebook>) -> Option<String> {
    let mut all = String::new();
    for (name, kernel) in cuda_front::kernels(text).ok()? {
        let Ok(kernel) = kernel else { continue };
        let mut solver = solver()?;
        if let Some(notebook) = notebook {
            solver.use_store(Box::new(notebook.clone()));
        }
        let options = Options { infers: true, suggests: false };
        let (answer, _) = allsizes::prove(&kernel, Some(solver), options);
        all.push_str(&format!("{name}: {answer:#?}\n"));
    }
    Some(all)
}

/// Kernels of the corpus and of users, in a fixed order.
fn files() -> Vec<PathBuf> {
    let folders = ["corpus/param", "corpus/param/ensures", "corpus/param/scans", "corpus/users"];
    let of = |folder: &str| {
        let folder = testing::corpus::root().join(folder);
        let names = names_in(folder.clone(), "cu").into_iter();
        names.map(move |name| folder.join(format!("{name}.cu"))).collect::<Vec<_>>()
    };
    let step = if std::env::var_os("WARPPROOF_FULL").is_some() { 1 } else { 10 };
    folders.into_iter().flat_map(of).step_by(step).collect()
}

#[test]
fn verdicts_do_not_depend_on_kept_answers() {
    let mut asked = 0;
    for file in files() {
        let text = std::fs::read_to_string(&file).unwrap();
        let notebook = Notebook::default();
        let Some(cold) = answers(&text, Some(&notebook)) else { return };
        asked += notebook.len();
        let others = [
            ("warm", Some(notebook.clone())),
            ("one half of the answers gone", Some(notebook.every_second(0))),
            ("the other half gone", Some(notebook.every_second(1))),
            ("none kept", None),
        ];
        for (what, notebook) in others.iter().filter(|_| notebook.len() > 0) {
            let other = answers(&text, notebook.as_ref());
            assert!(other.as_deref() == Some(cold.as_str()), "{}, {what}", file.display());
        }
    }
    assert!(asked > 50, "{asked} questions");
}
