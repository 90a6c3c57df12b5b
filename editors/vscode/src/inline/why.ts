// The list that says why there is, or was, no suggestion, and the one of what can be done with suggestions.

import * as vscode from 'vscode';
import type { InlineDecision } from '../generated/protocol';
import { messageOf, type Request } from '../server/requests';
import { iconless, visible } from '../text';
import { merged, wordsOf } from './decisions';
import type { Inline } from './inline';
import type { Remedy, State } from './state';
import { pickPause, toggle, type Switches } from './switches';

interface Row extends vscode.QuickPickItem {
  run?: () => Thenable<unknown>;
}

/** The parts that both lists need. */
export interface Parts {
  inline: Inline;
  switches: Switches;
  request: Request;
}

/** Shows the state, and the last decisions about the active document: Enter goes to where one was made. */
export async function showWhy({ inline, switches, request }: Parts): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  const state = inline.state(document);
  const uri = document?.uri.toString();
  const own = inline.decisions.filter((decision) => uri === undefined || decision.uri === uri);
  let problem: string | undefined;
  const { decisions } = await request('azimuth/inline/explain', uri === undefined ? {} : { uri }).catch((error: unknown) => {
    problem = messageOf(error);
    return { decisions: [] };
  });
  const rows = merged(decisions, own).map(rowOf);
  const name = document === undefined ? 'all files' : vscode.workspace.asRelativePath(document.uri);
  await pick(`Azimuth: suggestions in ${name}`, 'The newest decision is first. Enter: go to its position', [
    ...nowRows(state, switches, document),
    { label: rows.length === 0 ? 'No decision yet' : 'Last decisions', kind: vscode.QuickPickItemKind.Separator },
    ...(problem === undefined ? [] : [{ label: `$(warning) ${iconless(problem)}` }]),
    ...rows,
  ]);
}

/** Shows what can be done with suggestions. */
export async function showMenu(parts: Parts): Promise<void> {
  const { inline, switches } = parts;
  const document = vscode.window.activeTextEditor?.document;
  const state = inline.state(document);
  const { isOn, isOnForLanguage, language } = switches.facts(document);
  const forLanguage: Row[] = language === undefined ? [] : [{
    label: isOnForLanguage ? `$(circle-slash) Turn off for ${language}` : `$(check) Turn on for ${language}`,
    run: () => toggle(switches, true),
  }];
  await pick('Azimuth: suggestions where you type', 'Select an action', [
    ...nowRows(state, switches, document),
    { label: '', kind: vscode.QuickPickItemKind.Separator },
    { label: '$(question) Why is there no suggestion?', run: () => showWhy(parts) },
    { label: '$(graph) Show counters', run: () => vscode.commands.executeCommand('azimuth.inline.counts') },
    ...(state.editModel === undefined ? [] : [{ label: '$(edit) Suggest next edit', run: () => vscode.commands.executeCommand('azimuth.nextEdit.trigger') }]),
    { label: '$(debug-pause) Pause…', run: () => pickPause(switches) },
    { label: isOn ? '$(circle-slash) Turn off' : '$(check) Turn on', run: () => toggle(switches, false) },
    ...forLanguage,
    { label: '$(gear) Show settings', run: () => vscode.commands.executeCommand('workbench.action.openSettings', 'azimuth.inline') },
  ]);
}

/** The state, and what can be done about it. */
function nowRows({ kind, reason, model, editModel, remedy }: State, switches: Switches, document?: vscode.TextDocument): Row[] {
  const on = reason === undefined ? 'Suggestions are on.' : `Edits are suggested. ${iconless(reason.words)}`;
  const label = kind === 'ready' ? `$(check) ${on}` : `$(${icons[kind]}) ${iconless(reason?.words ?? 'The model for suggestions fails.')}`;
  const models = [model, editModel === undefined ? undefined : `edits: ${editModel}`].filter((one) => one !== undefined);
  const now: Row = { label, ...(models.length === 0 ? {} : { description: visible(models.join(' · ')) }) };
  return remedy === undefined ? [now] : [now, { label: `$(debug-continue) ${remedies[remedy]}`, run: () => switches.remedy(remedy, document) }];
}

function rowOf(decision: InlineDecision): Row {
  const { isShown, label, description, detail } = wordsOf(decision, new Date(decision.at).toLocaleTimeString());
  return { label: `$(${isShown ? 'check' : 'circle-slash'}) ${iconless(label)}`, description, detail: iconless(detail), run: () => goTo(decision) };
}

async function goTo({ uri, position }: InlineDecision): Promise<void> {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
  const place = document.validatePosition(new vscode.Position(position.line, position.character));
  await vscode.window.showTextDocument(document, { selection: new vscode.Range(place, place) });
}

async function pick(title: string, placeHolder: string, rows: Row[]): Promise<void> {
  const picked = await vscode.window.showQuickPick(rows, { title: visible(title), placeHolder, matchOnDescription: true, matchOnDetail: true });
  await picked?.run?.();
}

const icons: Record<Exclude<State['kind'], 'ready'>, string> = { starting: 'loading~spin', off: 'circle-slash', paused: 'debug-pause', slow: 'warning', failing: 'warning' };

const remedies: Record<Remedy, string> = {
  turnOn: 'Turn suggestions on',
  turnOnForLanguage: 'Turn suggestions on for this language',
  turnOnInEditor: 'Turn on editor.inlineSuggest.enabled',
  resume: 'Resume suggestions',
  suggestToo: 'Use both',
};
