//! Models that write where the user types, through a mask.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt, future, stream};
use ports::complete::{
    Complete, EditNext, Edited, Excerpt, Fill, FillEvent, FillInfo, FillStream, NextEdit, Rewritten, Window,
};
use ports::model::ModelError;

use crate::Masks;
use crate::masking::Mask;
use crate::model::mask;
use crate::reveal::Revealer;

/// A model that fills in text, behind a mask.
pub(crate) struct MaskedFill {
    pub(crate) model: Arc<dyn Complete>,
    pub(crate) masks: Arc<dyn Masks>,
}

#[async_trait]
impl Complete for MaskedFill {
    fn info(&self) -> &FillInfo {
        self.model.info()
    }

    async fn fill(&self, request: Fill) -> Result<FillStream, ModelError> {
        let mask = mask(&*self.masks).await?;
        if mask.is_empty() {
            return self.model.fill(request).await;
        }
        let answer = self.model.fill(fill_without(&mask, request)).await?;
        let mut text = Revealer::of_text();
        let revealed = answer.flat_map(move |event| {
            let events = match event {
                Ok(FillEvent::Text(piece)) => vec![Ok(FillEvent::Text(text.push(&mask, &piece)))],
                end => vec![Ok(FillEvent::Text(text.end())), end],
            };
            stream::iter(events)
        });
        let says = |event: &Result<FillEvent, _>| !matches!(event, Ok(FillEvent::Text(text)) if text.is_empty());
        Ok(revealed.filter(move |event| future::ready(says(event))).boxed())
    }
}

/// A model that edits next, behind a mask.
pub(crate) struct MaskedEdit {
    pub(crate) model: Arc<dyn EditNext>,
    pub(crate) masks: Arc<dyn Masks>,
}

#[async_trait]
impl EditNext for MaskedEdit {
    fn info(&self) -> &FillInfo {
        self.model.info()
    }

    fn window(&self) -> Window {
        self.model.window()
    }

    async fn edit(&self, request: NextEdit) -> Result<Rewritten, ModelError> {
        let mask = mask(&*self.masks).await?;
        if mask.is_empty() {
            return self.model.edit(request).await;
        }
        let answer = self.model.edit(edit_without(&mask, request)).await?;
        Ok(Rewritten { text: answer.text.map(|text| mask.reveal(&text).into_owned()), ..answer })
    }
}

fn fill_without(mask: &Mask, request: Fill) -> Fill {
    Fill {
        path: mask.hide(&request.path).into_owned(),
        prefix: mask.hide(&request.prefix).into_owned(),
        suffix: mask.hide(&request.suffix).into_owned(),
        extra: excerpts_without(mask, request.extra),
        ..request
    }
}

/// A request without secrets. Its window begins, ends and has its cursor where it had them in the text, so a value that
/// goes across one of these is not found.
fn edit_without(mask: &Mask, request: NextEdit) -> NextEdit {
    let NextEdit { excerpt, window, cursor, .. } = &request;
    let cuts = [0, window.start, *cursor, window.end, excerpt.len()];
    let (mut hidden, mut ends) = (String::new(), [0; 5]);
    for (at, cut) in cuts.windows(2).zip(&mut ends) {
        let part = excerpt.get(at.first().copied().unwrap_or(0)..at.last().copied().unwrap_or(0));
        hidden.push_str(&mask.hide(part.unwrap_or_default()));
        *cut = hidden.len();
    }
    let [start, cursor, end, ..] = ends;
    let edited = |edited: Edited| Edited {
        path: mask.hide(&edited.path).into_owned(),
        before: mask.hide(&edited.before).into_owned(),
        after: mask.hide(&edited.after).into_owned(),
        ..edited
    };
    NextEdit {
        path: mask.hide(&request.path).into_owned(),
        excerpt: hidden,
        window: start..end,
        cursor,
        history: request.history.into_iter().map(edited).collect(),
        related: excerpts_without(mask, request.related),
        problems: request.problems.into_iter().map(|(line, text)| (line, mask.hide(&text).into_owned())).collect(),
        ..request
    }
}

fn excerpts_without(mask: &Mask, excerpts: Vec<Excerpt>) -> Vec<Excerpt> {
    let hidden =
        |Excerpt { path, text }| Excerpt { path: mask.hide(&path).into_owned(), text: mask.hide(&text).into_owned() };
    excerpts.into_iter().map(hidden).collect()
}
