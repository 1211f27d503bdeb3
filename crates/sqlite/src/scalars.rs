//! Functions of texts, without an index: `twindex_similarity`, `twindex_containment` and
//! `twindex_signature`. Each takes the shingle as an optional last argument.

use crate::error::{failure, guarded, of_library};
use crate::values::text;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};
use std::sync::Arc;
use twindex::{Index, Overlap, Shingle, Signature, Sketcher};

pub(crate) fn register(db: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    for arguments in [2, 3] {
        db.create_scalar_function(c"twindex_similarity", arguments, flags, |context| {
            guarded(|| similarity(context))
        })?;
        db.create_scalar_function(c"twindex_containment", arguments, flags, |context| {
            guarded(|| overlap(context).map(|overlap| overlap.map(Overlap::a_in_b)))
        })?;
        db.create_scalar_function(c"twindex_signature", arguments - 1, flags, |context| {
            guarded(|| signature(context))
        })?;
    }
    Ok(())
}

/// The sketcher for the shingle that is the argument at a place, or for the default. It is made
/// once for a constant argument.
fn sketcher(context: &Context<'_>, place: usize) -> Result<Arc<Sketcher>> {
    let make = |value: ValueRef<'_>| {
        let mut options = Index::options();
        if let Some(shingle) = text(value, "the shingle")? {
            options = options.shingle(shingle.parse::<Shingle>().map_err(of_library)?);
        }
        options.settings().and_then(|settings| settings.sketcher()).map_err(of_library)
    };
    if context.len() <= place {
        return make(ValueRef::Null).map(Arc::new);
    }
    context.get_or_create_aux(place as i32, make)
}

/// Compares two texts; `None` if one is NULL.
fn overlap(context: &Context<'_>) -> Result<Option<Overlap>> {
    if let ValueRef::Null = context.get_raw(0) {
        return Ok(None);
    }
    let sketcher = sketcher(context, 2)?;
    let shingler = sketcher.shingler();
    let a = text(context.get_raw(0), "the first text")?;
    let b = text(context.get_raw(1), "the second text")?;
    let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
    Ok(Some(Overlap::of_sets(&shingler.set(&a), &shingler.set(&b))))
}

/// The similarity of two texts, exactly, or of two signatures, by estimate.
fn similarity(context: &Context<'_>) -> Result<Option<f64>> {
    let (a, b) = match (context.get_raw(0), context.get_raw(1)) {
        (ValueRef::Null, _) | (_, ValueRef::Null) => return Ok(None),
        (ValueRef::Blob(a), ValueRef::Blob(b)) => (a, b),
        (ValueRef::Blob(_), _) | (_, ValueRef::Blob(_)) => {
            return Err(failure("a blob is a signature here, and the other value is a text"));
        }
        _ => return overlap(context).map(|overlap| overlap.map(Overlap::similarity)),
    };
    if context.len() > 2 {
        return Err(failure("signatures are compared without a shingle"));
    }
    let signature = |bytes: &[u8]| {
        Signature::from_bytes(bytes).ok_or_else(|| {
            failure(format!("a blob of {} bytes is no signature of twindex", bytes.len()))
        })
    };
    let (a, b) = (signature(a)?, signature(b)?);
    if a.lanes().len() != b.lanes().len() {
        return Err(failure("the signatures have different numbers of lanes"));
    }
    Ok(Some(a.similarity(&b).map_or(0.0, |estimate| estimate.similarity)))
}

/// The signature of a text, as a blob.
fn signature(context: &Context<'_>) -> Result<Option<Vec<u8>>> {
    let sketcher = sketcher(context, 1)?;
    let Some(text) = text(context.get_raw(0), "the text")? else { return Ok(None) };
    let signature = sketcher.signature(&*text).map_err(of_library)?;
    Ok(Some(signature.to_bytes()))
}
