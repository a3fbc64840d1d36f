//! The table of atoms: each distinct atom has one number, the sign that it has without any assumption, and a
//! stamp (its order of creation).

use super::{Algebra, Atom, AtomId, FormId, Monomial, Polynomial, SignSet};

/// An atom with its known properties.
#[derive(Debug)]
pub(super) struct Entry {
    atom: Atom,
    sign: SignSet,
    is_constant: bool,
    stamp: u32,
}

impl Algebra {
    /// Returns the atom behind a number.
    pub(crate) fn atom(&self, id: AtomId) -> Atom {
        match self.entry(id) {
            None => Atom::Input(id.0 - 1),
            Some(entry) => entry.atom.clone(),
        }
    }

    pub(crate) fn atom_ref(&self, id: AtomId) -> Option<&Atom> {
        self.entry(id).map(|entry| &entry.atom)
    }

    pub(crate) fn atom_stamp(&self, id: AtomId) -> u32 {
        self.entry(id).map_or(0, |entry| entry.stamp)
    }

    /// Returns the sign of an atom, without use of assumptions.
    pub(crate) fn atom_sign(&self, id: AtomId) -> SignSet {
        self.entry(id).map_or(SignSet::ANY, |entry| entry.sign)
    }

    /// Returns `true` if the atom does not depend on inputs.
    pub(crate) fn atom_is_constant(&self, id: AtomId) -> bool {
        self.entry(id).is_some_and(|entry| entry.is_constant)
    }

    /// Returns `true` for a polynomial that is kept together as one atom ([`Atom::Base`]).
    pub(crate) fn is_base(&self, id: AtomId) -> bool {
        matches!(self.atom_ref(id), Some(Atom::Base(_)))
    }

    /// Interns an atom; returns its number.
    pub(crate) fn intern_atom(&mut self, atom: Atom) -> AtomId {
        if let Atom::Input(position) = atom {
            return AtomId(position + 1);
        }
        if let Some(id) = self.atom_ids.get(&atom) {
            return *id;
        }
        let sign = self.sign_of_new_atom(&atom);
        self.add_atom(atom, sign)
    }

    /// Interns a maximum whose sign is known, so that not every element is inspected again.
    pub(super) fn intern_maximum(&mut self, elements: Box<[FormId]>, sign: SignSet) -> AtomId {
        let atom = Atom::Maximum(elements);
        match self.atom_ids.get(&atom) {
            Some(id) => *id,
            None => self.add_atom(atom, sign),
        }
    }

    fn add_atom(&mut self, atom: Atom, sign: SignSet) -> AtomId {
        let id = AtomId(self.inputs + 1 + self.atoms.len() as u32);
        let entry = Entry {
            sign,
            is_constant: self.new_atom_is_constant(&atom),
            stamp: self.stamp(),
            atom: atom.clone(),
        };
        self.atoms.push(entry);
        self.atom_ids.insert(atom, id);
        id
    }

    /// Returns the [`Atom::Base`] of a form, if it has been created before.
    pub(crate) fn known_base(&self, form: FormId) -> Option<AtomId> {
        self.atom_ids.get(&Atom::Base(form)).copied()
    }

    /// Returns the atom as a polynomial.
    pub(crate) fn atom_polynomial(&mut self, atom: Atom) -> Polynomial {
        Polynomial::single(Monomial::of_atom(self.intern_atom(atom)))
    }

    /// Returns the forms directly inside an atom.
    pub(crate) fn forms_inside(&self, id: AtomId) -> Vec<FormId> {
        match self.atom_ref(id) {
            None
            | Some(
                Atom::Input(_)
                | Atom::Pi
                | Atom::Integer(_)
                | Atom::LogInteger(_)
                | Atom::Opaque { .. },
            ) => Vec::new(),
            Some(Atom::Log(form) | Atom::Base(form) | Atom::Apply(_, form)) => vec![*form],
            Some(Atom::Maximum(forms)) => forms.to_vec(),
            Some(Atom::Select(condition, a, b)) => {
                let mut forms = vec![*a, *b];
                self.forms_of_condition(*condition, &mut forms);
                forms
            }
        }
    }

    /// Returns `true` if the form does not depend on inputs.
    pub(crate) fn form_is_constant(&self, form: FormId) -> bool {
        self.form(form).iter().all(|(monomial, _)| self.monomial_is_constant(*monomial))
    }

    fn entry(&self, id: AtomId) -> Option<&Entry> {
        id.0.checked_sub(self.inputs + 1).map(|index| &self.atoms[index as usize])
    }

    fn new_atom_is_constant(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Input(_) | Atom::Opaque { .. } => false,
            Atom::Pi | Atom::Integer(_) | Atom::LogInteger(_) => true,
            Atom::Log(form) | Atom::Base(form) | Atom::Apply(_, form) => {
                self.form_is_constant(*form)
            }
            Atom::Maximum(forms) => forms.iter().all(|form| self.form_is_constant(*form)),
            Atom::Select(condition, a, b) => {
                let mut forms = vec![*a, *b];
                self.forms_of_condition(*condition, &mut forms);
                forms.iter().all(|form| self.form_is_constant(*form))
            }
        }
    }
}
