//! Calls from another program: results are returned, calls share nothing, files may be given in memory.

use driver::Exit;
use std::thread;
use warpproof::{Call, CallResult, call};

const FLAGS: [&str; 10] = [
    "--grid",
    "4",
    "--block",
    "64",
    "--arg",
    "x=f32[4,256]",
    "--arg",
    "y=f32[4,256]:out",
    "--arg",
    "columns=256",
];

fn text(name: &str) -> Vec<u8> {
    let path = testing::corpus::root().join("examples/online_softmax").join(name);
    std::fs::read(path).unwrap()
}

/// A check of one of the examples, given as a text.
fn check(name: &str) -> Call {
    let words = ["check", "kernel.ptx"].into_iter().chain(FLAGS).map(str::to_owned);
    Call::new(words.collect(), vec![("kernel.ptx".to_owned(), text(name))], None)
}

fn answered(name: &str) -> CallResult {
    call(&mut check(name))
}

#[test]
fn a_text_is_a_file() {
    let called = answered("racy.ptx");
    assert_eq!(called.exit, Exit::Refuted);
    assert!(called.output.contains("race on `racy::parts[0]`"), "{}", called.output);
    assert!(called.json().unwrap().contains("\"file\": \"kernel.ptx\""));
    assert!(called.html().starts_with("<!DOCTYPE html>"));
    assert_eq!(answered("online.ptx").exit, Exit::Success);
}

#[test]
fn calls_at_the_same_time_do_not_see_each_other() {
    let alone = ["racy.ptx", "online.ptx"].map(|name| answered(name).output);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                (number % 2, scope.spawn(move || answered(["racy.ptx", "online.ptx"][number % 2])))
            })
            .collect();
        for (which, thread) in threads {
            assert_eq!(thread.join().unwrap().output, alone[which]);
        }
    });
}

#[test]
fn a_stopped_watch_ends_its_own_call_alone() {
    let mut stopped = check("online.ptx");
    stopped.watch().stop();
    let (first, second) = (stopped.watch(), check("online.ptx"));
    assert!(!std::ptr::eq(first, second.watch()));
    drop(second);
    let called = call(&mut stopped);
    assert!(called.exit == Exit::Unknown || called.exit == Exit::Success);
    drop(stopped);
    // The next call gets a used watch, which must be reset.
    let mut next = check("online.ptx");
    assert!(!next.watch().is_stopped());
    assert_eq!(call(&mut next).exit, Exit::Success);
}

#[test]
fn mistakes_come_back_as_messages() {
    let called = call(&mut Call::new(vec!["check".to_owned()], Vec::new(), None));
    assert_eq!(called.exit, Exit::BadInput);
    assert!(called.messages.contains("<KERNEL>"), "{}", called.messages);
    let called = call(&mut Call::new(vec!["--version".to_owned()], Vec::new(), None));
    assert_eq!(called.exit, Exit::Success);
    assert!(called.output.contains("revision"), "{}", called.output);
}

#[test]
fn outputs_of_a_simulation_are_arrays() {
    let words = "simulate kernel.ptx --grid 1 --block 2 --arg x=f32[1,2]=[1,1] --arg y=f32[1,2]:out --arg columns=2";
    let words = words.split(' ').map(str::to_owned).collect();
    let texts = vec![("kernel.ptx".to_owned(), text("online.ptx"))];
    let called = call(&mut Call::new(words, texts, None));
    assert_eq!(called.exit, Exit::Success, "{}", called.messages);
    let [(name, bytes)] = called.arrays.as_slice() else { panic!("one array is written") };
    let array = driver::npy::from_bytes(bytes.clone()).unwrap();
    assert_eq!((name.as_str(), array.shape), ("y", vec![1, 2]));
    assert_eq!(array.data, [0.5_f32, 0.5].map(f32::to_le_bytes).concat());
}
