// Searches: where something was said in any session, and the user's earlier prompts.

import * as vscode from 'vscode';
import type { EarlierPrompt, SearchHit } from '../generated/protocol';
import { messageOf, type Request } from '../server/requests';
import { iconless } from '../text';
import type { Session } from './session';

/** The pause in the typing after which a search begins, in milliseconds. */
const QUIET_MS = 80;

/** Where a hit stands in the chat. */
export type Reveal = (hit: SearchHit) => Promise<void>;

interface HitItem extends vscode.QuickPickItem {
  hit?: SearchHit;
}

/** Searches all sessions while the user types, and opens the chosen hit at its place. */
export async function searchSessions(session: Session, request: Request, reveal: Reveal): Promise<void> {
  const pick = vscode.window.createQuickPick<HitItem>();
  pick.title = 'Azimuth: find what was said in any session';
  pick.placeholder = 'Words of a title, a prompt or an answer. Enter opens the session there.';
  const hit = await chosen(pick, async (query) => {
    if (query.trim() === '') return [];
    const { hits, unread } = await request('azimuth/session/search', { query, everywhere: true });
    const items: HitItem[] = hits.map((hit) => hitItem(hit, session.id));
    if (unread > 0) items.push({ label: `$(info) ${unread === 1 ? '1 older session is' : `${unread} older sessions are`} still being read`, description: 'Not everything may be found yet.', alwaysShow: true });
    return items.length > 0 ? items : [{ label: 'Nothing was found.', alwaysShow: true }];
  });
  if (hit?.hit === undefined) return;
  await session.open(hit.hit.sessionId);
  await reveal(hit.hit);
}

interface PromptItem extends vscode.QuickPickItem {
  prompt?: EarlierPrompt;
}

const everywhereButton: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('globe'), tooltip: 'Search the prompts of all projects' };

/** Has the user choose an earlier prompt, of this project or of all. Gives its text. */
export async function pickPrompt(request: Request): Promise<string | undefined> {
  const pick = vscode.window.createQuickPick<PromptItem>();
  const title = (everywhere: boolean): string => `Azimuth: earlier prompts of ${everywhere ? 'all projects' : 'this project'}`;
  let everywhere = false;
  pick.title = title(everywhere);
  pick.placeholder = 'Type to search. Enter puts the prompt into the chat.';
  pick.buttons = [everywhereButton];
  const item = await chosen(pick, async (query) => {
    const { prompts } = await request('azimuth/prompt/history', { query, everywhere, limit: 200 });
    return prompts.length > 0 ? prompts.map(promptItem) : [{ label: 'There is no such prompt.', alwaysShow: true }];
  }, (again) => pick.onDidTriggerButton(() => {
    everywhere = true;
    pick.title = title(everywhere);
    pick.buttons = [];
    again();
  }));
  return item?.prompt?.text;
}

/** Shows what is found for what the user types, until one is chosen. `wire` may have it searched again. */
function chosen<I extends vscode.QuickPickItem>(
  pick: vscode.QuickPick<I>, find: (query: string) => Promise<I[]>, wire?: (again: () => void) => void,
): Promise<I | undefined> {
  let asked = 0;
  let waits: ReturnType<typeof setTimeout> | undefined;
  /** The query that the items were found for. */
  let foundFor: string | undefined;
  const search = async (): Promise<void> => {
    const mine = (asked += 1);
    pick.busy = true;
    const query = pick.value;
    const items = await find(query).catch((error: unknown) => {
      void vscode.window.showErrorMessage(`Azimuth: ${messageOf(error)}`);
      return [];
    });
    // The answer to what was typed before comes too late.
    if (mine !== asked) return;
    pick.busy = false;
    pick.items = items;
    foundFor = query;
  };
  return new Promise<I | undefined>((resolve) => {
    pick.onDidChangeValue(() => {
      clearTimeout(waits);
      waits = setTimeout(() => void search(), QUIET_MS);
    });
    const accept = async (): Promise<void> => {
      const isOfWhatIsTyped = foundFor === pick.value;
      clearTimeout(waits);
      // One that was begun before may come between.
      while (foundFor !== pick.value) await search();
      // VS Code tells a moment later which item of a new list is active; until then that is one of the last list.
      const active = pick.activeItems.find((item) => pick.items.includes(item));
      resolve((isOfWhatIsTyped ? active : undefined) ?? pick.items[0]);
      pick.hide();
    };
    pick.onDidAccept(() => void accept());
    pick.onDidHide(() => resolve(undefined));
    wire?.(() => void search());
    pick.show();
    void search();
  }).finally(() => {
    clearTimeout(waits);
    pick.dispose();
  });
}

const saidBy = { title: undefined, prompt: 'You', answer: 'The model' } as const;

function hitItem(hit: SearchHit, current: string | undefined): HitItem {
  const words = [new Date(hit.at).toLocaleString(), hit.sessionId === current ? 'shown now' : ''];
  const who = saidBy[hit.kind];
  return {
    label: hit.title === '' ? 'No title' : iconless(hit.title),
    description: words.filter((word) => word !== '').join(' · '),
    ...(who === undefined ? {} : { detail: `${who}: ${iconless(hit.snippet)}` }),
    alwaysShow: true,
    hit,
  };
}

function promptItem(prompt: EarlierPrompt): PromptItem {
  const line = iconless(prompt.text.replaceAll(/\s+/g, ' ').trim());
  return { label: line, description: new Date(prompt.at).toLocaleString(), alwaysShow: true, prompt };
}
