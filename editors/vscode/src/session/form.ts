// A form of the model's questions, filled in by pickers, for whoever answers without the chat.

import * as vscode from 'vscode';
import type { Form, FormAnswer, FormQuestion } from '../generated/protocol';
import { iconless, visible } from '../text';

interface OptionItem extends vscode.QuickPickItem {
  /** The place of the option; absent for the user's own words. */
  place?: number;
}

/** Asks one question after the other. Undefined if the user changes their mind. */
export async function fillIn({ questions }: Form): Promise<FormAnswer[] | undefined> {
  const answers: FormAnswer[] = [];
  for (const [number, question] of questions.entries()) {
    const answer = await answerOf(question, questions.length > 1 ? ` (${number + 1} of ${questions.length})` : '');
    if (answer === undefined) return undefined;
    answers.push(answer);
  }
  return answers;
}

async function answerOf(question: FormQuestion, count: string): Promise<FormAnswer | undefined> {
  const title = `Azimuth: ${visible(question.header)}${count}`;
  const items: OptionItem[] = question.options.map(({ label, description, recommended }, place) => ({
    label: iconless(label), detail: iconless(description), description: recommended ? 'recommended' : '', picked: recommended, place,
  }));
  items.push({ label: '$(edit) In your own words…' });
  const settings = { title, placeHolder: visible(question.question), ignoreFocusOut: true };
  const picked = question.multiple
    ? await vscode.window.showQuickPick(items, { ...settings, canPickMany: true })
    : await vscode.window.showQuickPick(items, settings).then((one) => one && [one]);
  if (picked === undefined) return undefined;
  const chosen = picked.flatMap(({ place }) => (place === undefined ? [] : [place]));
  if (picked.every(({ place }) => place !== undefined)) return { chosen };
  const other = await vscode.window.showInputBox({ title, prompt: visible(question.question), ignoreFocusOut: true });
  return other === undefined ? undefined : { chosen, other };
}
