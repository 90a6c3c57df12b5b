--- Finding what was said earlier: where it was said in any session, and among the user's own prompts.

local client = require("azimuth.client")
local failed = require("azimuth.failed")
local protocol = require("azimuth.generated.protocol")
local text = require("azimuth.text")

local M = {}

local requests = protocol.requests

--- True if an entry is what a search has found.
---@param hit azimuth.SearchHit
---@return fun(entry: azimuth.Entry): boolean
local function is_hit(hit)
  return function(entry)
    if hit.kind == "answer" then
      return entry.kind == "assistant" and entry.id == hit.messageId
    end
    return hit.kind == "prompt" and entry.kind == "user" and entry.at == hit.at
  end
end

--- Opens the session of a hit at its place.
---@param hit azimuth.SearchHit
function M.show(hit)
  client.open_session(hit.sessionId, function(err)
    if failed(err) then
      return
    end
    local chat = require("azimuth.chat")
    chat.open()
    if hit.kind ~= "title" then
      chat.reveal(is_hit(hit))
    end
  end)
end

local said_by = { prompt = "you: ", answer = "the model: " }

---@param hit azimuth.SearchHit
---@return string
local function describe(hit)
  local title = hit.title ~= "" and text.one_line(hit.title, 60) or "(no title)"
  local said = said_by[hit.kind] and (" · " .. said_by[hit.kind] .. text.one_line(hit.snippet, 200)) or ""
  return ("%s (%s)%s"):format(title, text.when(hit.at), said)
end

---@param query string
local function search(query)
  client.request(requests.session_search, { query = query, everywhere = true }, function(err, result)
    if failed(err) then
      return
    end
    if result.unread > 0 then
      local older = text.plural(result.unread, "older session") .. (result.unread == 1 and " is" or " are")
      vim.notify(("Azimuth: %s still being read, so not everything may be found yet."):format(older))
    end
    if #result.hits == 0 then
      vim.notify(("Azimuth: nothing was found for %s."):format(text.one_line(query, 80)))
      return
    end
    vim.ui.select(result.hits, {
      prompt = ("Azimuth: %s"):format(text.one_line(query, 80)),
      kind = "azimuth.hit",
      format_item = describe,
    }, function(hit)
      if hit then
        M.show(hit)
      end
    end)
  end)
end

--- Searches all sessions for words, and opens the one that the user chooses at the place where they were said. Without
--- words, the user is asked for them.
---@param query string
function M.search(query)
  if query ~= "" then
    search(query)
    return
  end
  vim.ui.input({ prompt = "Azimuth, find what was said: " }, function(typed)
    if typed and vim.trim(typed) ~= "" then
      search(typed)
    end
  end)
end

--- Puts an earlier prompt that the user chooses into the input.
---@param query string Words that it must have; all prompts without one.
---@param everywhere? boolean True for those of every project.
function M.prompts(query, everywhere)
  local params = { query = query ~= "" and query or nil, everywhere = everywhere or nil, limit = 1000 }
  client.request(requests.prompt_history, params, function(err, result)
    if failed(err) then
      return
    end
    if #result.prompts == 0 then
      vim.notify("Azimuth: there is no such prompt yet.")
      return
    end
    vim.ui.select(result.prompts, {
      prompt = "Azimuth: earlier prompt",
      kind = "azimuth.prompt",
      format_item = function(prompt)
        return ("%s (%s)"):format(text.one_line(prompt.text, 160), text.when(prompt.at))
      end,
    }, function(prompt)
      if prompt then
        require("azimuth.chat").open()
        require("azimuth.input").append(prompt.text)
        require("azimuth.chat").focus_input()
      end
    end)
  end)
end

return M
