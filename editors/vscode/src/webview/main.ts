// The chat's page: it folds what the host tells it and shows it, and posts what the user wants.

import './chat.css';
import type { Draft, Facts, HostMessage, Intent } from '../chat/messages';
import { Changes } from './changes';
import { visible } from '../text';
import { button, eachFrame, h } from './dom';
import { Chat } from '../chat/fold';
import { Prompt } from './prompt';
import { Transcript } from './transcript';

interface VsCode {
  postMessage(intent: Intent): void;
  getState(): unknown;
  setState(state: Draft): void;
}

declare function acquireVsCodeApi(): VsCode;

const vscode = acquireVsCodeApi();
const post = (intent: Intent): void => vscode.postMessage(intent);

const transcript = new Transcript(post);
const changes = new Changes(post);
const prompt = new Prompt(post, vscode);
const header = h('header', { class: 'header' });
const banner = h('div', { class: 'banner', role: 'status' });
/** Says to a screen reader what a glance would tell. */
const said = h('div', { class: 'sr', 'aria-live': 'polite' });

let chat = new Chat();
let sessionId: string | undefined;
let facts: Facts | undefined;
let questions = 0;
let wasRunning = false;

const drawRest = eachFrame(() => {
  changes.draw(chat);
  prompt.draw();
  drawHeader();
  announce();
});

window.addEventListener('message', ({ data }: MessageEvent<HostMessage>) => {
  switch (data.type) {
    case 'session':
      chat = data.session === undefined ? new Chat() : Chat.from(data.session.chat);
      sessionId = data.session?.info.sessionId;
      questions = chat.questions.length;
      wasRunning = chat.runningTurn !== undefined;
      transcript.open(chat);
      prompt.open(chat, sessionId);
      break;
    case 'events':
      if (data.sessionId !== sessionId) return;
      data.events.forEach((event) => chat.take(event));
      transcript.changed();
      break;
    case 'earlier':
      if (data.sessionId === sessionId && chat.takeEarlier(data.from, data.entries)) transcript.earlierCame(data.entries.length);
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
    case 'completions':
      prompt.completions(data.requestId, data.result);
      break;
    case 'attach':
      prompt.attach(data.attachments);
      break;
    case 'focus':
      prompt.focus();
      break;
  }
  drawRest();
});

function drawHeader(): void {
  const title = chat.title === '' ? 'New conversation' : visible(chat.title);
  if (header.dataset['title'] === title) return;
  header.dataset['title'] = title;
  header.replaceChildren(button(title, () => post({ type: 'pickSession' }), { class: 'link title', title: 'Choose another conversation' }));
}

function drawBanner(): void {
  banner.replaceChildren();
  if (!facts) return;
  if (facts.server.state === 'starting') banner.append('Azimuth starts…');
  if (facts.server.state === 'stopped') {
    banner.append(h('p', {}, visible(facts.server.message)),
      button('Start again', () => post({ type: 'restartServer' }), { class: 'primary' }),
      button('Show the log', () => post({ type: 'openLog' }), { class: 'secondary' }));
  }
  if (facts.server.state === 'running' && facts.models.length > 0 && !facts.models.some((model) => model.available)) {
    banner.append(h('p', {}, 'No model can be used yet. Give a key, start a local server such as Ollama, or look around with the scripted tour.'),
      button('Set a key', () => post({ type: 'setKey' }), { class: 'primary' }),
      button('Choose a model', () => post({ type: 'pickModel' }), { class: 'secondary' }));
  }
  if (!facts.trusted) banner.append(h('p', {}, 'This workspace is not trusted: Azimuth only looks and answers.'));
}

function announce(): void {
  const asked = chat.questions;
  const running = chat.runningTurn !== undefined;
  if (asked.length > questions) {
    const last = asked.at(-1);
    said.textContent = `Azimuth asks: ${last?.title ?? ''}`;
    if (last) transcript.find(`q${last.permissionId}`)?.scrollIntoView({ block: 'nearest' });
  } else if (wasRunning && !running) said.textContent = 'Azimuth is done.';
  questions = asked.length;
  wasRunning = running;
}

// A question is answered by keys from anywhere in the chat: Alt and the number of the option.
document.addEventListener('keydown', (event) => {
  const [question] = chat.questions;
  const option = question?.options[Number(event.key) - 1];
  if (!event.altKey || event.ctrlKey || !question || !option) return;
  event.preventDefault();
  post({ type: 'answer', permissionId: question.permissionId, optionId: option.optionId });
});

document.querySelector('#chat')?.append(header, banner, transcript.element, changes.element, prompt.element, said);
drawHeader();
post({ type: 'ready' });
