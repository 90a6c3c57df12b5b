// The list of a session's terminals: how each stands, what shows that it is up, and what can be done to it.

import * as vscode from 'vscode';
import type { TerminalInfo } from '../generated/protocol';
import type { Session } from '../session/session';
import { iconless, visible } from '../text';
import { ageInWords, shortCommand, stateInWords } from './state';
import type { Terminals } from './terminals';

interface JobItem extends vscode.QuickPickItem {
  terminal: TerminalInfo;
}

interface Act extends vscode.QuickPickItem {
  run: () => Promise<unknown>;
}

/** So often what is listed is brought up to date, in milliseconds: ages grow without an event. */
const REFRESHED_EVERY = 1_000;

/** Shows the jobs and the shells, to look at one, open its page or end it. */
export async function showJobs(session: Session, terminals: Terminals): Promise<void> {
  const chosen = await choose(session);
  if (chosen === undefined) return;
  if (chosen.act !== undefined) {
    await chosen.act(terminals);
    return;
  }
  // The actions of buttons are in a list, too, for those who have no mouse.
  const acts = actsOf(chosen.terminal, terminals);
  const picked = acts.length === 1 ? acts[0] : await vscode.window.showQuickPick(acts, { title: visible(`Azimuth: ${titleOf(chosen.terminal)}`) });
  await picked?.run();
}

interface Chosen {
  terminal: TerminalInfo;
  act?: (terminals: Terminals) => Promise<unknown>;
}

async function choose(session: Session): Promise<Chosen | undefined> {
  const pick = vscode.window.createQuickPick<JobItem>();
  pick.title = 'Azimuth: jobs and shells of this session';
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.keepScrollPosition = true;
  let shown = '';
  const fill = (): void => {
    const active = pick.activeItems[0]?.terminal.terminalId;
    const all = [...session.terminals.values()].sort((a, b) => rank(a) - rank(b));
    pick.placeholder = all.length === 0 ? 'Nothing has run yet' : 'Enter: show actions';
    const items = all.map(itemOf);
    // A list that is set anew closes the tips of its buttons.
    const now = JSON.stringify(items.map(({ label, description, detail, buttons }) => [label, description, detail, buttons?.length]));
    if (now === shown) return;
    shown = now;
    pick.items = items;
    const again = items.find(({ terminal }) => terminal.terminalId === active);
    if (again !== undefined) pick.activeItems = [again];
  };
  fill();
  const timer = setInterval(fill, REFRESHED_EVERY);
  const subscription = session.onTerminals(fill);
  try {
    return await new Promise<Chosen | undefined>((resolve) => {
      pick.onDidAccept(() => resolve(pick.activeItems[0]));
      pick.onDidTriggerItemButton(({ item: { terminal }, button }) => resolve({ terminal, act: button === killButton ? (all) => all.kill(terminal.terminalId) : () => openPorts(terminal) }));
      pick.onDidHide(() => resolve(undefined));
      pick.show();
    });
  } finally {
    clearInterval(timer);
    subscription.dispose();
    pick.dispose();
  }
}

/** Jobs that run stand first, then the shells, then the jobs that ended, the last one first. */
function rank({ kind, alive, startedAt }: TerminalInfo): number {
  return (kind === 'job' ? (alive ? 0 : 2e15) : 1e15) - (kind === 'job' ? startedAt : 0);
}

const killButton: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('debug-stop'), tooltip: 'Kill' };
const openButton: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('globe'), tooltip: 'Open in the Browser' };

function itemOf(terminal: TerminalInfo): JobItem {
  const ports = portsOf(terminal);
  const { ready } = terminal;
  const icon = terminal.kind === 'job' ? 'server-process' : terminal.kind === 'outside' ? 'unlock' : 'terminal';
  const running = terminal.kind !== 'job' && terminal.running !== undefined ? shortCommand(terminal.running.command) : '';
  const detail = [running, terminal.waiting?.prompt.trim() ?? '', ready?.line?.trim() ?? '', ...ports.map(pageOf)].filter((part) => part !== '').join(' · ');
  return {
    label: `$(${icon}) ${iconless(titleOf(terminal))}`,
    description: `${stateInWords(terminal)} · ${ageInWords(terminal, Date.now())}`,
    ...(detail === '' ? {} : { detail: iconless(detail) }),
    buttons: [...(ports.length > 0 ? [openButton] : []), ...(canEnd(terminal) ? [killButton] : [])],
    terminal,
  };
}

function actsOf(terminal: TerminalInfo, terminals: Terminals): Act[] {
  const { terminalId, taken, alive } = terminal;
  return [
    { label: '$(terminal) Show its terminal', run: () => terminals.show(terminalId) },
    ...portsOf(terminal).map((port): Act => ({ label: `$(globe) Open ${pageOf(port)}`, run: () => open(port) })),
    ...(alive ? [{ label: taken ? '$(debug-continue) Hand it back' : '$(person) Take it over', run: () => terminals.take(!taken, terminalId) }] : []),
    ...(canEnd(terminal) ? [
      { label: '$(zap) Send a signal…', run: () => terminals.signal(terminalId) },
      { label: '$(debug-stop) Kill', run: () => terminals.kill(terminalId) },
    ] : []),
  ];
}

function titleOf({ kind, title }: TerminalInfo): string {
  return { shell: 'The shell', outside: 'The shell outside the sandbox', job: shortCommand(title) }[kind];
}

function canEnd({ kind, alive, running }: TerminalInfo): boolean {
  return alive && (kind === 'job' || running !== undefined);
}

function portsOf({ alive, ready }: TerminalInfo): number[] {
  return alive ? (ready?.ports ?? []) : [];
}

async function openPorts(terminal: TerminalInfo): Promise<void> {
  const ports = portsOf(terminal);
  const port = ports.length === 1 ? ports[0] : (await vscode.window.showQuickPick(ports.map((one) => ({ label: pageOf(one), one })), { title: 'Azimuth: which page?' }))?.one;
  if (port !== undefined) await open(port);
}

async function open(port: number): Promise<void> {
  await vscode.env.openExternal(vscode.Uri.parse(pageOf(port)));
}

function pageOf(port: number): string {
  return `http://localhost:${port}`;
}
