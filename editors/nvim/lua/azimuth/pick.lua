--- Choosing: a session, a model, a mode. All through `vim.ui.select`, which users replace by what they like.

local client = require("azimuth.client")
local failed = require("azimuth.failed")
local modes = require("azimuth.generated.modes")
local protocol = require("azimuth.generated.protocol")
local text = require("azimuth.text")

local M = {}

local requests = protocol.requests

--- Chooses a session of this project, or of every folder, and opens it.
---@param everywhere? boolean
function M.session(everywhere)
  client.request(requests.session_list, { everywhere = everywhere or nil }, function(err, result)
    if failed(err) then
      return
    end
    if #result.sessions == 0 then
      vim.notify("Azimuth: there is no session yet.")
      return
    end
    vim.ui.select(result.sessions, {
      prompt = "Azimuth: session",
      kind = "azimuth.session",
      format_item = function(session)
        local mark = session.sessionId == client.session() and "* " or "  "
        local title = session.title ~= "" and text.one_line(session.title, 80) or "(no prompt yet)"
        local cost = session.cost > 0 and ", " .. text.dollars(session.cost) or ""
        return ("%s%s (%s%s)"):format(mark, title, text.when(session.updatedAt), cost)
      end,
    }, function(session)
      if session then
        client.open_session(session.sessionId, function(open_err)
          if not failed(open_err) then
            require("azimuth.chat").open()
          end
        end)
      end
    end)
  end)
end

--- Deletes the current session, after a question.
function M.delete()
  local session_id = client.session()
  local state = client.state()
  if not session_id or not state then
    vim.notify("Azimuth: no session is open.")
    return
  end
  local title = state.title ~= "" and text.one_line(state.title, 80) or "(no prompt yet)"
  vim.ui.select({ "Keep it", "Delete it" }, {
    prompt = ("Azimuth: delete %s with all that belongs to it? This cannot be undone."):format(title),
  }, function(choice)
    if choice ~= "Delete it" then
      return
    end
    client.request(requests.session_delete, { sessionId = session_id }, function(err)
      if not failed(err) then
        client.forget(session_id)
        client.new_session(nil, failed)
      end
    end)
  end)
end

--- The server's word for as much as a model thinks by itself.
local by_itself = "default"

---@param model string
---@param done? fun(model?: string) Called with the model's id, or without one if it failed.
local function select_model(model, done)
  client.request(requests.model_select, { model = model, sessionId = client.session() }, function(err, result)
    if done then
      done(result and result.model.id)
    end
    if not failed(err) then
      local level = result.model.level
      local thinks = level and (", thinking: %s"):format(level) or ""
      vim.notify(("Azimuth: the model is %s%s."):format(text.one_line(result.model.name), thinks))
    end
  end)
end

---@param model azimuth.ModelInfo
---@return string
local function describe(model)
  local state = client.state()
  local parts = { (state and state.model == model.id and "* " or "  ") .. text.one_line(model.id, 80) }
  if not model.available then
    table.insert(parts, "cannot be used: " .. text.one_line(model.unavailableBecause or "no key", 100))
    return table.concat(parts, ", ")
  end
  table.insert(parts, text.count(model.contextTokens) .. " tokens")
  if not model.price then
    table.insert(parts, "price unknown")
  elseif model.price.input + model.price.output > 0 then
    table.insert(parts, ("$%g in, $%g out per million"):format(model.price.input, model.price.output))
  end
  if model.images then
    table.insert(parts, "images")
  end
  if #(model.levels or {}) > 0 then
    table.insert(parts, "thinks " .. table.concat(model.levels, "/"))
  end
  if #(model.aliases or {}) > 0 then
    table.insert(parts, "also called " .. text.one_line(table.concat(model.aliases, ", "), 80))
  end
  if model.scripted then
    table.insert(parts, "plays a script")
  end
  if model.warning then
    table.insert(parts, "but: " .. text.one_line(model.warning, 300))
  end
  return table.concat(parts, ", ")
end

--- The models in the order in which they are offered: those chosen last, then those of each provider, and with `all`
--- those that cannot be used. What the configuration rules out is left out.
---@param listed azimuth.ModelListResult
---@param all? boolean
---@return azimuth.ModelInfo[]
local function in_order(listed, all)
  local recent = {}
  for at, id in ipairs(listed.recent or {}) do
    recent[id] = at
  end
  local first, rest = {}, {}
  for _, model in ipairs(listed.models) do
    if model.available and recent[model.id] then
      table.insert(first, model)
    elseif not model.ruledOut and (all or model.available) then
      -- The server has them by their providers, the usable ones first.
      table.insert(rest, model)
    end
  end
  table.sort(first, function(a, b)
    return recent[a.id] < recent[b.id]
  end)
  return vim.list_extend(first, rest)
end

--- The entry of the list of models that leads to the roles.
local other_work = {}

--- The models that can be used, in the order in which they are offered, and what is said of each.
---@param listed azimuth.ModelListResult
---@return azimuth.ModelInfo[] models
---@return fun(model: azimuth.ModelInfo): string describe
function M.usable(listed)
  return in_order(listed), describe
end

--- Chooses the model of the current session; without a session, of new ones. Models that cannot be used are listed
--- only if asked for, since there are many.
---@param model? string
---@param all? boolean
function M.model(model, all)
  if model then
    select_model(model)
    return
  end
  client.request(requests.model_list, {}, function(err, result)
    if failed(err) then
      return
    end
    for _, note in ipairs(result.notes or {}) do
      vim.notify("Azimuth: " .. text.one_line(note), vim.log.levels.WARN)
    end
    local items = in_order(result, all)
    -- The last ones are no models but the ways to other work and to more models.
    vim.list_extend(items, { other_work, false })
    vim.ui.select(items, {
      prompt = "Azimuth: model",
      kind = "azimuth.model",
      format_item = function(item)
        if item == other_work then
          return "  choose the model for other work"
        end
        return item and describe(item) or ("  store a key, for more of the %d models known"):format(#result.models)
      end,
    }, function(item)
      if item == other_work then
        require("azimuth.roles").pick()
      elseif item == false or (item and not item.available) then
        require("azimuth.keys").ask()
      elseif item then
        select_model(item.id)
      end
    end)
  end)
end

--- The model that is in use, as the server lists it.
---@param models azimuth.ModelListResult
---@return azimuth.ModelInfo?
local function current_model(models)
  local state = client.state()
  local id = state and state.model or models.default
  return vim.iter(models.models):find(function(model)
    return model.id == id
  end)
end

--- The model after the one that is in use, of those chosen last. They follow each other as they are listed, since the
--- order of the last ones changes with each choice. None if there are not two of those: nobody chose the others, and
--- some of them would be paid for.
---@param listed azimuth.ModelListResult
---@param current? string
---@return azimuth.ModelInfo?
function M.model_after(listed, current)
  local choices = vim.tbl_filter(function(model)
    local is_usable = model.available and not model.ruledOut and not model.scripted
    return is_usable and (model.id == current or vim.tbl_contains(listed.recent or {}, model.id))
  end, listed.models)
  if #choices < 2 then
    return nil
  end
  local at = vim.iter(ipairs(choices)):find(function(_, model)
    return model.id == current
  end) or 0
  return choices[at % #choices + 1]
end

--- The number of times that the next model was asked for and is not chosen yet, and the model that was chosen last. The
--- event that tells of it may come a moment after the next key.
local asked = 0
---@type { session?: string, before?: string, model: string, at: integer }?
local chosen = nil
local EVENT_MS = 1000

---@return string?
local function model_now()
  local state = client.state()
  local now = state and state.model
  if chosen and chosen.session == client.session() and chosen.before == now and vim.uv.now() - chosen.at < EVENT_MS then
    return chosen.model
  end
  return now
end

--- Takes the next model, once for each time that it was asked for; with fewer than two that were chosen, the user
--- chooses.
local function take_next()
  client.request(requests.model_list, {}, function(err, result)
    if failed(err) then
      asked = 0
      return
    end
    local model = M.model_after(result, model_now() or result.default)
    if not model then
      asked = 0
      M.model()
      return
    end
    local state = client.state()
    local session, before = client.session(), state and state.model
    select_model(model.id, function(id)
      chosen = id and { session = session, before = before, model = id, at = vim.uv.now() } or nil
      asked = id and asked - 1 or 0
      if asked > 0 then
        take_next()
      end
    end)
  end)
end

--- Takes the next model, after those that were asked for before.
function M.next_model()
  asked = asked + 1
  if asked == 1 then
    take_next()
  end
end

--- Chooses how much the model thinks: a level, the next one, or without a word one of a list.
---@param level? string
function M.thinking(level)
  client.request(requests.model_list, {}, function(err, result)
    if failed(err) then
      return
    end
    local model = current_model(result)
    if not model or #(model.levels or {}) == 0 then
      local name = model and text.one_line(model.name) or "the model"
      vim.notify(("Azimuth: %s cannot be told how much to think."):format(name), vim.log.levels.WARN)
      return
    end
    local choices = vim.list_extend({ by_itself }, model.levels)
    local state = client.state()
    local level_now = model.level
    if state and state.model then
      level_now = state.thinking
    end
    local current = level_now or by_itself
    local function choose(picked)
      select_model(model.id .. ":" .. picked)
    end
    if level == "next" then
      local at = vim.iter(ipairs(choices)):find(function(_, choice)
        return choice == current
      end) or 0
      choose(choices[at % #choices + 1])
    elseif level then
      choose(level)
    else
      vim.ui.select(choices, {
        prompt = ("Azimuth: how much %s thinks"):format(text.one_line(model.name)),
        kind = "azimuth.thinking",
        format_item = function(choice)
          return (choice == current and "* " or "  ") .. (choice == by_itself and "by itself" or choice)
        end,
      }, function(choice)
        if choice then
          choose(choice)
        end
      end)
    end
  end)
end

--- Sets the mode of the session's next turns. What has to be confirmed the server refuses at first, with words that say what
--- it means.
---@param item azimuth.ModeInfo
---@param here azimuth.Whereabouts
---@param confirmed? boolean
local function set_mode(item, here, confirmed)
  client.ensure_session(function(no_session, session_id)
    if failed(no_session) then
      return
    end
    local params = { sessionId = session_id, mode = item.mode, confirmed = confirmed }
    client.request(requests.session_mode, params, function(err)
      if err and err.code == protocol.error_codes.notConfirmed and not confirmed then
        require("azimuth.confirm").ask({
          title = "Bypass permission?",
          said = err.message,
          yes = "bypasses",
          here = here,
          again = (":Azimuth mode %s asks again."):format(item.name),
        }, function()
          set_mode(item, here, true)
        end)
      elseif not failed(err) then
        vim.notify(("Azimuth: the mode of the next turns is %s."):format(item.name))
      end
    end)
  end)
end

--- Sets the mode; without one, the user chooses.
---@param name? string
function M.mode(name)
  if name then
    for _, item in ipairs(modes) do
      if item.name == name or item.mode == name then
        set_mode(item, require("azimuth.confirm").here())
        return
      end
    end
    local names = vim.tbl_map(function(item)
      return item.name
    end, modes)
    vim.notify(("Azimuth: there is no mode %s; there are %s."):format(name, table.concat(names, ", ")), vim.log.levels.ERROR)
    return
  end
  vim.ui.select(modes, {
    prompt = "Azimuth: mode",
    kind = "azimuth.mode",
    format_item = function(item)
      local state = client.state()
      local mark = state and state.mode == item.mode and "* " or "  "
      local confirm = item.needs_confirmation and "; has to be confirmed" or ""
      return mark .. item.name .. ": " .. item.words .. confirm
    end,
  }, function(item)
    if item then
      set_mode(item, require("azimuth.confirm").here())
    end
  end)
end

local checked = false

--- Asks for a key, once, if no model can be used without one.
function M.check_models()
  if checked then
    return
  end
  checked = true
  client.request(requests.model_list, { unasked = true }, function(err, result)
    if err then
      checked = false
      return
    end
    for _, model in ipairs(result.models) do
      if model.available then
        return
      end
    end
    require("azimuth.keys").ask()
  end)
end

return M
