// The chat's page: it folds what the host tells it and shows it, and posts what the user wants.

import './chat.css';
import type { Facts, HostMessage, Intent } from '../chat/messages';
import { modes } from '../generated/modes';
import { Beginnings } from './beginnings';
import { Changes } from './changes';
import { runningJobs, shortCommand, waitingInWords, waitingTerminals } from '../terminal/state';
import { visible } from '../text';
import { type Child, button, eachFrame, h, refill } from './dom';
import { Chat } from '../chat/fold';
import { Kept } from './kept';
import { Prompt } from './prompt';
import { Transcript } from './transcript';

interface VsCode {
  postMessage(intent: Intent): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCode;

const vscode = acquireVsCodeApi();
const post = (intent: Intent): void => vscode.postMessage(intent);

const kept = new Kept(vscode);
const transcript = new Transcript(post, kept, (words) => (said.textContent = `Found: ${words}`));
const beginnings = new Beginnings(post);
const changes = new Changes(post);
const prompt = new Prompt(post, kept);
const header = h('header', { class: 'header' });
const banner = h('div', { class: 'banner', role: 'status' });
/** Says to a screen reader what a glance would tell. */
const said = h('div', { class: 'sr', 'aria-live': 'polite' });

let chat = new Chat();
let sessionId: string | undefined;
let facts: Facts | undefined;
let questions = 0;
let waiting = 0;
let wasRunning = false;

const drawRest = eachFrame(() => keepFocus(() => {
  beginnings.draw(chat, facts, sessionId);
  changes.draw(chat);
  prompt.draw();
  drawHeader();
  announce();
}));

/** Draws; the prompt takes the keyboard from what goes away by that. */
function keepFocus(draw: () => void): void {
  const had = document.activeElement;
  draw();
  if (had?.isConnected === false && document.hasFocus() && document.activeElement === document.body) prompt.focus();
}

window.addEventListener('message', ({ data }: MessageEvent<HostMessage>) => {
  switch (data.type) {
    case 'session':
      chat = data.session === undefined ? new Chat() : Chat.from(data.session.chat);
      sessionId = data.session?.info.sessionId;
      questions = chat.questions.length;
      waiting = waitingTerminals(chat.terminals).length;
      wasRunning = chat.runningTurn !== undefined;
      // Elements that go away above the entries later would look like the user's scrolling up.
      keepFocus(() => beginnings.draw(chat, facts, sessionId));
      transcript.open(chat);
      prompt.open(chat, sessionId);
      drawBanner();
      break;
    case 'events':
      if (data.sessionId !== sessionId) return;
      data.events.forEach((event) => chat.take(event));
      transcript.changed();
      break;
    case 'earlier':
      if (data.sessionId === sessionId && chat.takeEarlier(data.from, data.entries)) transcript.earlierCame(data.entries.length);
      return;
    case 'terminals':
      if (data.sessionId !== sessionId) return;
      chat.correct(data.terminals);
      transcript.changed();
      break;
    case 'tail':
      transcript.print(data.toolCallId, data.text);
      return;
    case 'facts':
      facts = data.facts;
      prompt.take(facts);
      drawBanner();
      break;
    case 'promptSettled':
      prompt.settled(data.promptId, data.error);
      if (data.error === undefined) transcript.toEnd();
      break;
    case 'refused':
      prompt.giveBack(data.prompt, data.error);
      break;
    case 'completions':
      prompt.completions(data.requestId, data.result);
      break;
    case 'attach':
      prompt.add(data.prompt);
      break;
    case 'focus':
      prompt.focus();
      if (data.atEnd) transcript.toEnd();
      break;
    case 'reveal':
      if (data.sessionId === sessionId) transcript.reveal(data.key);
      break;
    case 'answerOption':
      answer(data.option);
      return;
  }
  drawRest();
});

function drawHeader(): void {
  const title = chat.title === '' ? 'New conversation' : visible(chat.title);
  const jobs = runningJobs(chat.terminals).length;
  const now = JSON.stringify([title, jobs]);
  if (header.dataset['shown'] === now) return;
  header.dataset['shown'] = now;
  refill(header,
    button(title, () => post({ type: 'pickSession' }), { class: 'link title', title: 'Choose another conversation' }),
    jobs > 0 && button(jobs === 1 ? '1 job' : `${jobs} jobs`, () => post({ type: 'showJobs' }), { class: 'link jobs', title: 'Show what runs in the background' }));
}

function drawBanner(): void {
  refill(banner, ...(facts === undefined ? [] : bannerOf(facts)));
}

function bannerOf({ server, models, folder, trusted, mode }: Facts): Child[] {
  const own = models.find(({ id }) => id === chat.model);
  const usable = server.state !== 'running' || models.length === 0 || models.some((model) => model.available);
  return [
    server.state === 'starting' && 'Azimuth is starting…',
    ...(server.state !== 'stopped' ? [] : [
      h('p', {}, visible(server.message)),
      button('Start again', () => post({ type: 'restartServer' }), { class: 'primary' }),
      button('Show the log', () => post({ type: 'openLog' }), { class: 'secondary' }),
    ]),
    ...(usable ? [] : [
      h('p', {}, 'No model can be used yet. Sign in, give a key, start a local server such as Ollama, or look around with the scripted tour.'),
      ...waysToAModel(),
    ]),
    ...(!usable || own === undefined || own.available ? [] : [
      h('p', {}, `${visible(own.name)} cannot be used: ${visible(own.unavailableBecause ?? 'there is no key')}.`),
      ...waysToAModel(),
    ]),
    ...(folder ? [] : [
      h('p', {}, 'This window has no folder open, and Azimuth works in one.'),
      button('Open a folder', () => post({ type: 'openFolder' }), { class: 'primary' }),
    ]),
    ...(modes[mode].asks ? [] : [
      h('p', { class: 'bypass' }, `${modes[mode].label}: Azimuth acts without asking, except for what your rules always ask.`),
      button('Ask me again', () => post({ type: 'setMode', mode: 'agent' }), { class: 'primary' }),
    ]),
    !trusted && h('p', {}, 'This workspace is not trusted: Azimuth only looks and answers.'),
  ];
}

function waysToAModel(): Child[] {
  return [
    button('Sign in', () => post({ type: 'signIn' }), { class: 'primary' }),
    button('Set a key', () => post({ type: 'setKey' }), { class: 'secondary' }),
    button('Choose a model', () => post({ type: 'pickModel' }), { class: 'secondary' }),
  ];
}

function announce(): void {
  const asked = chat.questions;
  const waits = waitingTerminals(chat.terminals);
  const running = chat.runningTurn !== undefined;
  if (asked.length > questions) {
    const last = asked.at(-1);
    said.textContent = `Azimuth asks: ${last?.title ?? ''}`;
    if (last) transcript.find(`q${last.permissionId}`)?.scrollIntoView({ block: 'nearest' });
  } else if (waits.length > waiting) {
    const last = waits.at(-1);
    said.textContent = last === undefined ? '' : `${shortCommand(last.running?.command ?? last.title)} ${waitingInWords(last.waiting)}: ${last.waiting.prompt}`;
    if (last?.running !== undefined) transcript.find(`t${last.running.toolCallId}`)?.scrollIntoView({ block: 'nearest' });
  } else if (wasRunning && !running) said.textContent = 'Azimuth is done.';
  waiting = waits.length;
  questions = asked.length;
  wasRunning = running;
}

/** Answers the question that has waited longest, with what the user has written to it. */
function answer(option: number): void {
  const [question] = chat.questions;
  const entry = question && transcript.find(`q${question.permissionId}`);
  entry?.querySelectorAll<HTMLElement>('.answers button')[option - 1]?.click();
}

// VS Code has the keys that answer, and needs to know when, since its own use of them is to jump into an editor.
for (const [event, on] of [['focus', true], ['blur', false]] as const) {
  window.addEventListener(event, () => post({ type: 'focused', on }));
}

// The second key of a chord such as Ctrl+K Shift+F is for VS Code, and types nothing.
/** After so long, a key is no second one any more, in milliseconds. */
const CHORD_MS = 3_000;
let chordBegan: number | undefined;
const endChord = (): void => { chordBegan = undefined; };
const isMac = navigator.platform.startsWith('Mac');
document.addEventListener('keydown', (event) => {
  if (['Control', 'Meta', 'Shift', 'Alt'].includes(event.key)) return;
  if (chordBegan !== undefined && performance.now() - chordBegan < CHORD_MS) {
    endChord();
    // The page's own listeners leave alone what is prevented. It must go on to VS Code's, which is on the window.
    event.preventDefault();
    return;
  }
  const begins = (isMac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey) && !event.altKey && !event.shiftKey;
  chordBegan = begins && event.key.toLowerCase() === 'k' ? performance.now() : undefined;
}, { capture: true });
window.addEventListener('blur', endChord);
document.addEventListener('pointerdown', endChord, { capture: true });

// On a Mac those keys type letters, too.
document.addEventListener('keydown', (event) => {
  if (event.altKey && !event.ctrlKey && /^Digit[1-9]$/.test(event.code) && chat.questions.length > 0) event.preventDefault();
});

transcript.element.prepend(beginnings.element);
document.querySelector('#chat')?.append(header, banner, transcript.element, changes.element, prompt.element, said);
drawHeader();
post({ type: 'ready' });
post({ type: 'focused', on: document.hasFocus() });
