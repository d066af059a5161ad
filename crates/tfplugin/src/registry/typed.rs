//! Requests and answers, with models and with [`Data`] in their place.

use super::{
    Applied, ApplyFailure, Create, Data, Delete, Diagnostics, Import, Imported, MoveState, Moved,
    Opened, Plan, PlanDestroy, Planned, Private, Read, ReadAnswer, Renewed, Update,
};
use crate::diagnostic::Diagnostic;
use crate::model::FromData;

/// What is made of a request.
pub(super) trait FromErased<Erased>: Sized {
    fn from_erased(erased: Erased) -> Result<Self, Diagnostics>;
}

/// What an answer is made into.
pub(super) trait IntoErased<Erased> {
    fn into_erased(self) -> Erased;
}

/// The schema was already laid over the value, so a mismatch means that schema and model disagree.
impl<M: FromData> FromErased<Data> for M {
    fn from_erased(data: Data) -> Result<Self, Diagnostics> {
        M::from_data(data).map_err(|mismatch| {
            Diagnostic::mismatch("The provider's schema and model disagree", &mismatch).into()
        })
    }
}

impl<M: FromData> FromErased<Option<Data>> for Option<M> {
    fn from_erased(data: Option<Data>) -> Result<Self, Diagnostics> {
        data.map(FromErased::from_erased).transpose()
    }
}

impl<M: FromData> IntoErased<Data> for M {
    fn into_erased(self) -> Data {
        self.into_data()
    }
}

impl<A: IntoErased<B>, B, E: IntoErased<F>, F> IntoErased<Result<B, F>> for Result<A, E> {
    fn into_erased(self) -> Result<B, F> {
        self.map(IntoErased::into_erased).map_err(IntoErased::into_erased)
    }
}

impl<M: FromData> IntoErased<ReadAnswer<Data>> for ReadAnswer<M> {
    fn into_erased(self) -> ReadAnswer<Data> {
        match self {
            Self::Present { state, private, identity } => {
                ReadAnswer::Present { state: state.into_data(), private, identity }
            }
            Self::Gone => ReadAnswer::Gone,
        }
    }
}

impl<M: FromData> IntoErased<ApplyFailure<Data>> for ApplyFailure<M> {
    fn into_erased(self) -> ApplyFailure<Data> {
        let state = self.state.map(|(state, private)| (state.into_data(), private));
        ApplyFailure { diagnostics: self.diagnostics, state }
    }
}

/// Implements the two for structs: their models, and behind the semicolon what stays as it is.
macro_rules! carry {
    ($( $name:ident { $($model:ident),+; $($plain:ident),+ } )+) => { $(
        impl<M: FromData> FromErased<$name<Data>> for $name<M> {
            fn from_erased(erased: $name<Data>) -> Result<Self, Diagnostics> {
                let $name { $($model,)+ $($plain),+ } = erased;
                Ok(Self { $($model: FromErased::from_erased($model)?,)+ $($plain),+ })
            }
        }
    )+ };
    ($( $name:ident [ $model:ident; $($plain:ident),+ ] )+) => { $(
        impl<M: FromData> IntoErased<$name<Data>> for $name<M> {
            fn into_erased(self) -> $name<Data> {
                let Self { $model, $($plain),+ } = self;
                $name { $model: $model.into_data(), $($plain),+ }
            }
        }
    )+ };
}

carry! {
    Read { state; private, identity }
    Plan { config, prior, proposed; private, planned_private }
    PlanDestroy { prior; private }
    Create { config, planned; private }
    Update { config, prior, planned; private }
    Delete { prior; private }
}

carry! {
    Planned [state; private, requires_replace, identity]
    Applied [state; private, identity]
    Imported [state; private, identity]
    Moved [state; private, identity]
    Opened [result; private, renew_at]
}

macro_rules! as_it_is {
    ($($request:ty),*; $($answer:ty),*) => {
        $(impl FromErased<$request> for $request {
            fn from_erased(erased: $request) -> Result<Self, Diagnostics> {
                Ok(erased)
            }
        })*
        $(impl IntoErased<$answer> for $answer {
            fn into_erased(self) -> $answer {
                self
            }
        })*
    };
}

as_it_is!(Import, MoveState, Private; (), Private, Renewed, Diagnostics);
